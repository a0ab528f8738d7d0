#include "checkers/race.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <deque>

#include "base/hash.h"
#include "checkers/access_history.h"
#include "core/happens_before.h"
#include "core/lockset.h"

namespace heddle {

namespace {

// How far ahead of the event being checked the state of a variable is fetched into the cache.
constexpr std::size_t kPrefetch = 12;

class RaceChecker : public Checker {
 public:
  explicit RaceChecker(const CheckerContext& context) : context_(context) {}

  void process(const EventBatch& batch) override;

 private:
  // One cache line. Without a history, `write` and `read` are the last of each kind and `read` is unordered
  // with nothing later dropped; with one, both are "never" and the history holds everything.
  struct alignas(64) Variable {
    Access write;
    Access read;
    AccessHistory* history = nullptr;
  };

  void on_read(const Event& event, EventIndex index);
  void on_write(const Event& event, EventIndex index);
  void on_atomic(const Event& event, EventIndex index);
  void read_with_history(Variable& variable, const Access& access, const ThreadClock& now,
                         const Event& event);
  void write_with_history(Variable& variable, const Access& access, const ThreadClock& now,
                          const Event& event);
  void begin_new_life(uint32_t variable);

  Access make_access(const Event& event, EventIndex index, Epoch epoch) const;
  AccessHistory& give_history(Variable& variable);
  void take_history(Variable& variable);

  void compare(const AccessSet& earlier, const Access& later, const ThreadClock& now, const Event& event);
  void report(const Access& earlier, const Access& later, const Event& event);
  Finding argue(const Access& earlier, const Access& later, uint32_t variable) const;
  Step step(const Access& access, uint32_t variable) const;

  CheckerContext context_;
  HappensBefore order_;
  LocksetTable locksets_;
  HeldLocks held_{locksets_};
  std::vector<Variable> variables_;             // by variable
  std::deque<AccessHistory> histories_;         // storage behind Variable::history
  std::vector<AccessHistory*> free_histories_;  // histories no variable has
  tsl::robin_map<uint64_t, std::size_t, MixHash>
      reported_;  // variable, sites and operations → index of the finding
};

void RaceChecker::process(const EventBatch& batch) {
  const std::size_t variable_count = context_.names.table(Space::kVariable).size();
  if (variables_.size() < variable_count) variables_.resize(std::max(variable_count, variables_.size() * 2));
  const std::size_t size = batch.events.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (i + kPrefetch < size) {
      const Event& ahead = batch.events[i + kPrefetch];
      if (ahead.operation <= Operation::kAtomicCompareFail) __builtin_prefetch(&variables_[ahead.object], 1);
    }
    const Event& event = batch.events[i];
    const EventIndex index = batch.first + i;
    switch (event.operation) {
      case Operation::kRead: on_read(event, index); break;
      case Operation::kWrite: on_write(event, index); break;
      case Operation::kAtomicRead:
      case Operation::kAtomicWrite:
      case Operation::kAtomicUpdate:
      case Operation::kAtomicCompareFail: on_atomic(event, index); break;
      case Operation::kAcquire:
      case Operation::kAcquireShared:
        held_.acquire(event.thread, event.object, event.operation == Operation::kAcquireShared);
        order_.synchronize(event);
        break;
      case Operation::kRelease:
      case Operation::kReleaseShared:
        held_.release(event.thread, event.object);
        order_.synchronize(event);
        break;
      case Operation::kAlloc:
      case Operation::kFree:
        begin_new_life(event.object);
        order_.synchronize(event);
        break;
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
      case Operation::kFocus:
      case Operation::kNested: order_.synchronize(event); break;
    }
  }
}

Access RaceChecker::make_access(const Event& event, EventIndex index, Epoch epoch) const {
  Access access;
  access.epoch = epoch;
  access.index = index & ((uint64_t{1} << 48) - 1);
  access.operation = static_cast<uint8_t>(event.operation);
  access.order = static_cast<uint8_t>(event.order);
  access.site = event.site;
  access.held = held_.of(event.thread);
  return access;
}

void RaceChecker::on_read(const Event& event, EventIndex index) {
  Variable& variable = variables_[event.object];
  const ThreadClock& now = order_.clock(event.thread);
  const Epoch epoch = now.epoch();
  // [FT READ SAME EPOCH]; after its own write of the same epoch a read adds nothing either.
  if (variable.read.epoch == epoch || variable.write.epoch == epoch) return;
  const Access access = make_access(event, index, epoch);
  if (variable.history == nullptr && now.knows(variable.write.epoch)) [[likely]] {
    if (now.knows(variable.read.epoch)) {  // [FT READ EXCLUSIVE]; also the first read
      variable.read = access;
      return;
    }
    give_history(variable).reads.put(access);  // [FT READ SHARE]
    return;
  }
  read_with_history(variable, access, now, event);  // [FT READ SHARED], races, atomics
}

void RaceChecker::on_write(const Event& event, EventIndex index) {
  Variable& variable = variables_[event.object];
  const ThreadClock& now = order_.clock(event.thread);
  const Epoch epoch = now.epoch();
  if (variable.write.epoch == epoch)
    return;  // [FT WRITE SAME EPOCH]: a foreign access since would have raced
  const Access access = make_access(event, index, epoch);
  if (variable.history == nullptr && now.knows(variable.write.epoch) && now.knows(variable.read.epoch))
      [[likely]] {
    variable.write = access;  // [FT WRITE EXCLUSIVE]; the read before it is dominated
    variable.read = Access();
    return;
  }
  write_with_history(variable, access, now, event);  // [FT WRITE SHARED], races, atomics
}

void RaceChecker::read_with_history(Variable& variable, const Access& access, const ThreadClock& now,
                                    const Event& event) {
  AccessHistory& history = give_history(variable);
  compare(history.writes, access, now, event);
  compare(history.atomic_writes, access, now, event);
  history.reads.put(access);
}

void RaceChecker::write_with_history(Variable& variable, const Access& access, const ThreadClock& now,
                                     const Event& event) {
  AccessHistory& history = give_history(variable);
  for (AccessSet* earlier :
       {&history.writes, &history.reads, &history.atomic_writes, &history.atomic_reads}) {
    compare(*earlier, access, now, event);
    earlier->drop_known(now);
  }
  order_.forget_releases(event.object);
  if (history.empty()) {
    take_history(variable);
    variable.write = access;
  } else {
    history.writes.put(access);
  }
}

void RaceChecker::on_atomic(const Event& event, EventIndex index) {
  order_.before_atomic(event);
  const ThreadClock& now = order_.clock(event.thread);
  const Access access = make_access(event, index, now.epoch());
  AccessHistory& history = give_history(variables_[event.object]);
  const bool writes =
      event.operation == Operation::kAtomicWrite || event.operation == Operation::kAtomicUpdate;
  compare(history.writes, access, now, event);
  if (writes) compare(history.reads, access, now, event);
  (writes ? history.atomic_writes : history.atomic_reads).put(access);
  order_.after_atomic(event);
}

void RaceChecker::begin_new_life(uint32_t variable) {
  if (variables_[variable].history != nullptr) take_history(variables_[variable]);
  variables_[variable].write = Access();
  variables_[variable].read = Access();
}

AccessHistory& RaceChecker::give_history(Variable& variable) {
  if (variable.history != nullptr) return *variable.history;
  if (free_histories_.empty()) {
    free_histories_.push_back(&histories_.emplace_back());
  }
  variable.history = free_histories_.back();
  free_histories_.pop_back();
  if (!variable.write.epoch.is_never()) variable.history->writes.put(variable.write);
  if (!variable.read.epoch.is_never()) variable.history->reads.put(variable.read);
  variable.write = Access();
  variable.read = Access();
  return *variable.history;
}

void RaceChecker::take_history(Variable& variable) {
  variable.history->clear();
  free_histories_.push_back(variable.history);
  variable.history = nullptr;
}

void RaceChecker::compare(const AccessSet& earlier, const Access& later, const ThreadClock& now,
                          const Event& event) {
  for (const Access& access : earlier.entries())
    if (!now.knows(access.epoch)) [[unlikely]]
      report(access, later, event);
}

void RaceChecker::report(const Access& earlier, const Access& later, const Event& event) {
  const auto key_of = [](const Access& access) {
    return uint64_t{access.site} << 16 | uint64_t{access.operation} << 8 | uint64_t{access.order};
  };
  const uint64_t key = mix(mix(mix(event.object) ^ key_of(earlier)) ^ key_of(later));
  const auto [entry, is_new] = reported_.try_emplace(key, 0);
  if (is_new) {
    entry.value() = context_.findings.add(argue(earlier, later, event.object));
  } else {
    context_.findings.again(entry->second);
  }
}

Step RaceChecker::step(const Access& access, uint32_t variable) const {
  Event event;
  event.operation = static_cast<Operation>(access.operation);
  event.order = static_cast<MemoryOrder>(access.order);
  event.thread = access.epoch.thread();
  event.object = variable;
  event.site = access.site;
  Step result = make_step(event, access.index, context_.names);
  result.held = locksets_.describe(access.held, context_.names);
  return result;
}

Finding RaceChecker::argue(const Access& earlier, const Access& later, uint32_t variable) const {
  const std::string name(context_.names.variable(variable));
  const auto is_plain = [](const Access& access) {
    return access.operation <= static_cast<uint8_t>(Operation::kWrite);
  };
  Finding finding;
  finding.rule = &kRaceRules[0];
  finding.checker = kRaceChecker.name;
  finding.strength = Strength::kObserved;
  finding.steps = {step(earlier, variable), step(later, variable)};
  Step& first = finding.steps[0];
  Step& second = finding.steps[1];
  finding.message = fmt::format("{} {}, {} {}, and nothing orders the two", first.thread, first.phrase,
                                second.thread, second.phrase);
  second.because =
      fmt::format("no lock, fork, join or other synchronization puts this after {}'s access", first.thread);
  finding.conclusion =
      "The two can happen in either order or at once; C++ gives the program no meaning then.";
  if (is_plain(earlier) != is_plain(later)) {
    finding.advice = fmt::format("make every access to {} atomic, or guard all of them with one mutex", name);
  } else if (earlier.held != later.held && (earlier.held == 0 || later.held == 0)) {
    const Step& guarded = earlier.held == 0 ? second : first;
    const Step& bare = earlier.held == 0 ? first : second;
    finding.advice = fmt::format("hold {} where {} {}, as {} does",
                                 locksets_.list(std::max(earlier.held, later.held), context_.names),
                                 bare.thread, bare.phrase, guarded.thread);
  } else {
    finding.advice =
        fmt::format("guard {} with one and the same mutex in both places, or make it std::atomic", name);
  }
  return finding;
}

}  // namespace

std::unique_ptr<Checker> make_race_checker(const CheckerContext& context) {
  return std::make_unique<RaceChecker>(context);
}

}  // namespace heddle
