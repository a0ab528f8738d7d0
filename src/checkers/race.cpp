#include "checkers/race.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "core/happens_before.h"
#include "core/lockset.h"
#include "core/race_detector.h"
#include "trace/stand_in.h"

namespace heddle {

namespace {

// How far ahead of the event being checked the state of a variable is fetched into the cache.
constexpr std::size_t kPrefetch = 12;

struct Access {
  Epoch epoch;                 // when; never: no access
  uint64_t index : 48 = 0;     // the event
  uint64_t operation : 8 = 0;  // its Operation
  uint64_t order : 8 = 0;      // its MemoryOrder
  SiteId site = kNoId;
  LocksetId held = 0;  // locks its thread held
};
static_assert(sizeof(Access) == 24);

class RaceChecker : public Checker {
 public:
  explicit RaceChecker(const CheckerContext& context) : context_(context) {}

  void process(const EventBatch& batch) override;

  // What RaceDetector asks of its owner.
  Access make_access(const Event& event, EventIndex index, Epoch epoch) const;
  static bool still_now(const Access&, ThreadId) { return true; }
  void on_race(const Access& earlier, const Access& later, const Event& event);

 private:
  void check_free(const Event& event, EventIndex index);
  Finding argue(const Access& earlier, const Access& later, uint32_t variable) const;
  Step step(const Access& access, uint32_t variable) const;

  CheckerContext context_;
  HappensBefore order_;
  LocksetTable locksets_;
  HeldLocks held_{locksets_};
  RaceDetector<Access, RaceChecker> detector_{order_, *this};
  struct Freeing {
    ThreadId thread = kNoId;
    SiteId site = kNoId;
    EventIndex next = 0;     // the event after the latest of it
    bool has_raced = false;  // which is told once
  };
  Freeing freeing_;  // memory is given back as a whole: variable by variable in a row, in one place
  tsl::robin_map<uint64_t, std::size_t, MixHash>
      reported_;  // variable, sites and operations → index of the finding
};

void RaceChecker::process(const EventBatch& batch) {
  for (const uint32_t lock : batch.ended_locks) order_.end_lock(lock);
  detector_.cover(context_.names.table(Space::kVariable).size());
  const std::size_t size = batch.events.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (i + kPrefetch < size) {
      const Event& ahead = batch.events[i + kPrefetch];
      if (ahead.operation <= Operation::kAtomicCompareFail) detector_.prefetch(ahead.object);
    }
    const Event& event = batch.events[i];
    const EventIndex index = batch.first + i;
    switch (event.operation) {
      case Operation::kRead: detector_.on_read(event, index); break;
      case Operation::kWrite: detector_.on_write(event, index); break;
      case Operation::kAtomicRead:
      case Operation::kAtomicWrite:
      case Operation::kAtomicUpdate:
      case Operation::kAtomicCompareFail: detector_.on_atomic(event, index); break;
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
      case Operation::kFree:
        if (is_checked_free(event)) check_free(event, index);
        [[fallthrough]];
      case Operation::kAlloc:
        detector_.begin_new_life(event.object);
        order_.synchronize(event);
        // Until the next life begins it counts as written.
        if (is_checked_free(event)) detector_.on_write(event, index);
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
      case Operation::kLook:
      case Operation::kTouch:
      case Operation::kCount:
      case Operation::kTake:
      case Operation::kDrop:
      case Operation::kAlive:
      case Operation::kFocus:
      case Operation::kSync:
      case Operation::kNested: order_.synchronize(event); break;
    }
  }
}

// In race with whoever is not ordered before it.
void RaceChecker::check_free(const Event& event, EventIndex index) {
  const bool goes_on = event.site != kNoId && event.site == freeing_.site &&
                       event.thread == freeing_.thread && index == freeing_.next;
  freeing_ = {event.thread, event.site, index + 1, goes_on && freeing_.has_raced};
  detector_.on_write(event, index);
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

void RaceChecker::on_race(const Access& earlier, const Access& later, const Event& event) {
  if (event.operation == Operation::kFree && std::exchange(freeing_.has_raced, true)) return;
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
  event.tries = event.operation == Operation::kFree;
  event.order = static_cast<MemoryOrder>(access.order);
  event.thread = access.epoch.thread();
  event.object = variable;
  event.site = access.site;
  Step result = make_step(event, access.index, context_.names);
  result.held = locksets_.describe(access.held, context_.names);
  return result;
}

Finding RaceChecker::argue(const Access& earlier, const Access& later, uint32_t variable) const {
  const auto is_plain = [](const Access& access) {
    return access.operation <= static_cast<uint8_t>(Operation::kWrite);
  };
  Finding finding = race_finding(step(earlier, variable), step(later, variable),
                                 std::string(context_.names.variable(variable)));
  const auto is_free = [](const Access& access) {
    return access.operation == static_cast<uint8_t>(Operation::kFree);
  };
  if (finding.rule != &kRaceRules[0] || is_free(earlier) || is_free(later)) return finding;
  if (is_plain(earlier) != is_plain(later)) {
    finding.advice = fmt::format("make every access to {} atomic, or guard all of them with one mutex",
                                 context_.names.variable(variable));
  } else if (earlier.held != later.held && (earlier.held == 0 || later.held == 0)) {
    const Step& first = finding.steps[0];
    const Step& second = finding.steps[1];
    const Step& guarded = earlier.held == 0 ? second : first;
    const Step& bare = earlier.held == 0 ? first : second;
    finding.advice = fmt::format("hold {} where {} {}, as {} does",
                                 locksets_.list(std::max(earlier.held, later.held), context_.names),
                                 bare.thread, bare.phrase, guarded.thread);
  }
  return finding;
}

// Two threads are at what one lock guards, and not both hold it (pass/stand_in.h).
Finding unguarded_use(Step earlier, Step later, const std::string& lock) {
  Finding finding;
  finding.rule = &kRaceRules[1];
  finding.checker = kRaceChecker.name;
  finding.strength = Strength::kPotential;
  finding.steps = {std::move(earlier), std::move(later)};
  Step& second = finding.steps[1];
  finding.message = fmt::format("{} and {} use what {} guards, and nothing orders the two",
                                finding.steps[0].thread, second.thread, lock);
  second.because = fmt::format("no lock, fork, join or other synchronization puts this after what {} did",
                               finding.steps[0].thread);
  finding.conclusion = fmt::format(
      "One of them does not hold {}. Whether both use the same field was not looked at: this build checks "
      "less.",
      lock);
  finding.advice = fmt::format(
      "hold {} in both places; or build without --heddle-focus to see the accesses themselves", lock);
  return finding;
}

}  // namespace

Finding race_finding(Step earlier, Step later, const std::string& variable) {
  if (variable.starts_with(kStandIn))
    return unguarded_use(std::move(earlier), std::move(later), variable.substr(kStandIn.size()));
  Finding finding;
  finding.rule = &kRaceRules[0];
  finding.checker = kRaceChecker.name;
  finding.strength = Strength::kObserved;
  finding.steps = {std::move(earlier), std::move(later)};
  const Step& first = finding.steps[0];
  Step& second = finding.steps[1];
  finding.message = fmt::format("{} {}, {} {}, and nothing orders the two", first.thread, first.phrase,
                                second.thread, second.phrase);
  second.because =
      fmt::format("no lock, fork, join or other synchronization puts this after {}'s access", first.thread);
  const bool is_freed_first = first.phrase.starts_with("freed ");
  if (is_freed_first || second.phrase.starts_with("freed ")) {
    const std::string& user = is_freed_first ? second.thread : first.thread;
    finding.conclusion = fmt::format("{} {} memory that is freed, and may be somebody else's by then.",
                                     is_freed_first ? user : "In another order " + user,
                                     is_freed_first ? "has accessed" : "accesses");
    if (is_freed_first) second.because = fmt::format("{} had freed it before", first.thread);
    finding.advice = fmt::format(
        "let {} free {} only when {} is done with it: join the thread, take the lock that it holds, or count "
        "who uses it (std::shared_ptr)",
        is_freed_first ? first.thread : second.thread, variable, user);
    return finding;
  }
  finding.conclusion =
      "The two can happen in either order or at once; C++ gives the program no meaning then.";
  finding.advice =
      fmt::format("guard {} with one and the same mutex in both places, or make it std::atomic", variable);
  return finding;
}

std::unique_ptr<Checker> make_race_checker(const CheckerContext& context) {
  return std::make_unique<RaceChecker>(context);
}

}  // namespace heddle
