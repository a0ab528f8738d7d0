#include "checkers/lockset.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "base/string_table.h"
#include "base/text.h"
#include "core/lockset.h"

namespace heddle {

std::string_view object_of(std::string_view variable) {
  std::size_t end = std::string_view::npos;
  if (variable.ends_with(']')) {
    std::size_t depth = 0;
    for (std::size_t i = variable.size(); i-- > 0 && end == std::string_view::npos;) {
      if (variable[i] == ']') ++depth;
      if (variable[i] == '[' && --depth == 0) end = i;
    }
  } else {
    const std::size_t dot = variable.rfind('.');
    const std::size_t arrow = variable.rfind("->");
    end = dot == std::string_view::npos || (arrow != std::string_view::npos && arrow > dot) ? arrow : dot;
  }
  return end == std::string_view::npos || end == 0 ? variable : variable.substr(0, end);
}

namespace {

// The lock every atomic access counts as holding. No lock of a trace has this id.
constexpr uint32_t kAtomicity = kNoId;

class LocksetChecker : public Checker {
 public:
  explicit LocksetChecker(const CheckerContext& context)
      : names_(context.names),
        findings_(context.findings),
        by_object_(context.options.granularity == Granularity::kObject) {}

  void process(const EventBatch& batch) override;

 private:
  enum class State : uint8_t {
    kVirgin,          // not used in this life
    kExclusive,       // used by one thread only
    kShared,          // used by several, not written since the second came
    kSharedModified,  // used by several and written
    kReported,        // found unguarded; nothing more to say in this life
  };
  // The part of a variable's state that every access reads.
  struct Variable {
    uint32_t owner_or_candidates =
        0;  // kExclusive: the thread; kShared and kSharedModified: a set without modes
    State state = State::kVirgin;
  };
  struct Access {
    EventIndex index = 0;
    ThreadId thread = 0;
    uint32_t variable = kNoId;
    SiteId site = kNoId;
    uint32_t value = kNoId;
    LocksetId held = kEmptyLockset;  // by the thread, kAtomicity not included
    Operation operation = Operation::kRead;
    MemoryOrder order = MemoryOrder::kPlain;
  };
  // An access that matters to the argument: it made the variable shared, lost candidates or found none left.
  struct Turn {
    Access access;
    LocksetId candidates = kEmptyLockset;  // after it
    uint32_t previous = kNoId;             // the turn before, in turns_; also links free_turn_
  };
  // The rest of a variable's state.
  struct Past {
    Access first;             // of this life
    uint32_t latest = kNoId;  // turn
  };

  // What an object consists of, by_object_ only.
  struct Fields {
    uint32_t life = 1;   // number of its present life
    uint32_t alive = 0;  // variables used in it that have not begun a new life of their own since
  };
  struct Field {
    uint32_t object = kNoId;  // slot it shares with the other fields
    uint32_t whole = kNoId;   // slot of the object that has the variable's own name; kNoId: not asked for yet
    uint32_t life = 0;        // of the object, in which it was used and is alive
  };

  void access(const Event& event, EventIndex index, bool write, bool atomic);
  void begin_life(uint32_t variable);
  void forget(uint32_t slot);
  void add_turn(uint32_t slot, const Access& access, LocksetId candidates);
  void report(uint32_t slot);
  Step step_of(const Access& access) const;
  std::string set_text(LocksetId set) const;
  std::string because(const Turn& turn, std::optional<LocksetId> before);
  uint32_t slot_of(uint32_t variable) const { return by_object_ ? fields_[variable].object : variable; }
  void learn_names();
  void make_slots();

  const Names& names_;
  Findings& findings_;
  bool by_object_;
  LocksetTable locksets_;
  HeldLocks held_{locksets_};
  std::vector<Variable> variables_;                          // by slot: a variable or an object
  std::vector<Past> pasts_;                                  // by slot
  std::vector<Turn> turns_;                                  // of all variables, linked newest to oldest
  uint32_t free_turn_ = kNoId;                               // unused turns, linked by previous
  StringTable objects_;                                      // by_object_: names of objects; ids are slots
  std::vector<Fields> objects_fields_;                       // by_object_: by slot
  std::vector<Field> fields_;                                // by_object_: by variable
  tsl::robin_map<uint64_t, std::size_t, MixHash> reported_;  // what and where, hashed → handle in findings_
};

void LocksetChecker::learn_names() {
  const StringTable& names = names_.table(Space::kVariable);
  if (by_object_)
    while (fields_.size() < names.size()) {
      const uint32_t object = objects_.intern(object_of(names[static_cast<uint32_t>(fields_.size())]));
      fields_.emplace_back().object = object;
    }
  make_slots();
}

void LocksetChecker::make_slots() {
  const std::size_t slots = by_object_ ? objects_.size() : names_.table(Space::kVariable).size();
  if (variables_.size() < slots) {
    variables_.resize(slots);
    pasts_.resize(slots);
    if (by_object_) objects_fields_.resize(slots);
  }
}

void LocksetChecker::process(const EventBatch& batch) {
  learn_names();
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& event = batch.events[i];
    const EventIndex index = batch.first + i;
    switch (event.operation) {
      case Operation::kRead: access(event, index, /*write=*/false, /*atomic=*/false); break;
      case Operation::kWrite: access(event, index, /*write=*/true, /*atomic=*/false); break;
      case Operation::kAtomicRead:
      case Operation::kAtomicCompareFail: access(event, index, /*write=*/false, /*atomic=*/true); break;
      case Operation::kAtomicWrite:
      case Operation::kAtomicUpdate: access(event, index, /*write=*/true, /*atomic=*/true); break;
      case Operation::kAcquire: held_.acquire(event.thread, event.object, /*shared=*/false); break;
      case Operation::kAcquireShared: held_.acquire(event.thread, event.object, /*shared=*/true); break;
      case Operation::kRelease:
      case Operation::kReleaseShared: held_.release(event.thread, event.object); break;
      case Operation::kAlloc:
      case Operation::kFree: begin_life(event.object); break;
      case Operation::kFork:
      case Operation::kJoin:
      case Operation::kThreadBegin:
      case Operation::kThreadEnd:
      case Operation::kBeginAtomic:
      case Operation::kBeginDeterministic:
      case Operation::kEnd:
      case Operation::kArrive:
      case Operation::kLeave:
      case Operation::kPost:
      case Operation::kWait:
      case Operation::kNotify:
      case Operation::kWake:
      case Operation::kFence:
      case Operation::kCommit:
      case Operation::kTaskBegin:
      case Operation::kTaskEnd:
      case Operation::kMaybeBegin:
      case Operation::kMaybeEnd:
      case Operation::kAssign:
      case Operation::kBranch:
      case Operation::kLook:
      case Operation::kTouch:
      case Operation::kCount:
      case Operation::kTake:
      case Operation::kDrop:
      case Operation::kAlive:
      case Operation::kFocus:
      case Operation::kSync:
      case Operation::kNested: break;
    }
  }
}

void LocksetChecker::access(const Event& event, EventIndex index, bool write, bool atomic) {
  const uint32_t slot = slot_of(event.object);
  if (by_object_ && fields_[event.object].life != objects_fields_[slot].life) {
    fields_[event.object].life = objects_fields_[slot].life;
    ++objects_fields_[slot].alive;
  }
  Variable& variable = variables_[slot];
  if (variable.state == State::kReported) return;
  if (variable.state == State::kExclusive && variable.owner_or_candidates == event.thread) return;
  const LocksetId held = held_.of(event.thread);
  const Access access{index,       event.thread, event.object,    event.site,
                      event.value, held,         event.operation, event.order};
  if (variable.state == State::kVirgin) {
    variable = {event.thread, State::kExclusive};
    pasts_[slot].first = access;
    return;
  }
  const LocksetId all = atomic ? locksets_.add(held, kAtomicity, /*shared=*/false) : held;
  // A reader lock lets other readers in, so it guards a read and not a write.
  const LocksetId guards = write ? locksets_.exclusive_part(all) : locksets_.without_modes(all);
  const bool was_shared = variable.state != State::kExclusive;
  const LocksetId before = was_shared ? variable.owner_or_candidates : guards;
  const LocksetId after = locksets_.intersect(before, guards);
  const bool modified = write || variable.state == State::kSharedModified;
  variable = {after, modified ? State::kSharedModified : State::kShared};
  const bool unguarded = modified && after == kEmptyLockset;
  if (!was_shared || after != before || unguarded) add_turn(slot, access, after);
  if (unguarded) report(slot);
}

void LocksetChecker::add_turn(uint32_t slot, const Access& access, LocksetId candidates) {
  uint32_t turn = free_turn_;
  if (turn == kNoId) {
    turn = static_cast<uint32_t>(turns_.size());
    turns_.emplace_back();
  } else {
    free_turn_ = turns_[turn].previous;
  }
  turns_[turn] = {access, candidates, pasts_[slot].latest};
  pasts_[slot].latest = turn;
}

// The variable is allocated or freed. With it an object begins a new life that has its name, or one none of
// whose other fields has been used in the present life: what is known about the others must not be forgotten.
void LocksetChecker::begin_life(uint32_t variable) {
  if (!by_object_) return forget(variable);
  Field& field = fields_[variable];
  if (field.whole == kNoId) {
    field.whole = objects_.intern(names_.name(Space::kVariable, variable));
    make_slots();
  }
  forget(field.whole);
  Fields& fields = objects_fields_[field.object];
  if (field.life != fields.life) return;
  field.life = 0;
  if (--fields.alive == 0) forget(field.object);
}

void LocksetChecker::forget(uint32_t slot) {
  variables_[slot] = {};
  if (by_object_) objects_fields_[slot] = {objects_fields_[slot].life + 1, 0};
  for (uint32_t turn = pasts_[slot].latest; turn != kNoId;) {
    const uint32_t previous = turns_[turn].previous;
    turns_[turn].previous = free_turn_;
    free_turn_ = turn;
    turn = previous;
  }
  pasts_[slot].latest = kNoId;
}

Step LocksetChecker::step_of(const Access& access) const {
  Event event;
  event.operation = access.operation;
  event.order = access.order;
  event.thread = access.thread;
  event.object = access.variable;
  event.site = access.site;
  event.value = access.value;
  Step step = make_step(event, access.index, names_);
  step.held = locksets_.describe(access.held, names_);
  return step;
}

std::string LocksetChecker::set_text(LocksetId set) const {
  std::vector<std::string> items;
  for (const HeldLock held : locksets_.members(set))
    items.push_back(held.lock == kAtomicity ? "atomic access" : printable(names_.lock(held.lock)));
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

// What the turn did to the candidates; `before` is none for the second thread's first access, where they
// begin.
std::string LocksetChecker::because(const Turn& turn, std::optional<LocksetId> before) {
  const Access& access = turn.access;
  const bool write = access.operation == Operation::kWrite || access.operation == Operation::kAtomicWrite ||
                     access.operation == Operation::kAtomicUpdate;
  const LocksetId reader_locks =
      write ? locksets_.intersect(before.value_or(locksets_.without_modes(access.held)), access.held)
            : kEmptyLockset;
  const bool loses_reader_lock = locksets_.exclusive_part(reader_locks) != reader_locks;
  const std::string_view why = loses_reader_lock ? "a lock held shared does not guard a write; " : "";
  if (!before && turn.candidates == kEmptyLockset)
    return fmt::format("{}the second thread comes without a lock that could be the common one", why);
  if (!before)
    return fmt::format("{}the second thread; candidates are the locks held here, {}", why,
                       set_text(turn.candidates));
  if (*before == turn.candidates) return "a write, and no candidate is left";
  return fmt::format("{}the candidates {} shrink to {}", why, set_text(*before), set_text(turn.candidates));
}

void LocksetChecker::report(uint32_t slot) {
  variables_[slot].state = State::kReported;
  std::vector<const Turn*> turns;
  for (uint32_t turn = pasts_[slot].latest; turn != kNoId; turn = turns_[turn].previous)
    turns.push_back(&turns_[turn]);
  std::reverse(turns.begin(), turns.end());
  const Access& first = pasts_[slot].first;

  // A variable that lives and dies in a loop is reported in each life: the same sites are the same finding.
  uint64_t what = mix(uint64_t{slot} << 32 | first.site) + static_cast<uint64_t>(first.operation);
  for (const Turn* turn : turns)
    what = mix(what ^ (uint64_t{turn->access.variable} << 32 | turn->access.site)) +
           static_cast<uint64_t>(turn->access.operation);
  if (const auto known = reported_.find(what); known != reported_.end())
    return findings_.again(known->second);

  const std::string name = printable(by_object_ ? objects_[slot] : names_.variable(slot));
  Finding finding;
  finding.rule = &kLocksetRules[0];
  finding.checker = kLocksetChecker.name;
  finding.strength = Strength::kPotential;
  finding.message = fmt::format("threads share {}, and no lock is held at every access", name);
  finding.steps.push_back(step_of(first));
  finding.steps.back().because = "the first thread to use it; nothing is checked while it is the only one";
  std::optional<LocksetId> before;
  LocksetId last_candidates = kEmptyLockset;
  for (const Turn* turn : turns) {
    finding.steps.push_back(step_of(turn->access));
    finding.steps.back().because = because(*turn, before);
    before = turn->candidates;
    if (turn->candidates != kEmptyLockset) last_candidates = turn->candidates;
  }
  const LocksetId locks = locksets_.remove(last_candidates, kAtomicity);
  const auto common = locksets_.members(locks);
  finding.conclusion =
      fmt::format("No lock is left that was held every time {} was used since it became shared.", name);
  finding.advice =
      common.empty()
          ? fmt::format("hold one lock at every access to {}, or make it a std::atomic", name)
          : fmt::format("hold {} at every access to {}", printable(names_.lock(common.front().lock)), name);
  reported_.emplace(what, findings_.add(std::move(finding)));
}

}  // namespace

std::unique_ptr<Checker> make_lockset_checker(const CheckerContext& context) {
  return std::make_unique<LocksetChecker>(context);
}

}  // namespace heddle
