#include "checkers/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "base/text.h"
#include "checkers/deadlock_search.h"
#include "checkers/forced_order.h"
#include "core/lockset.h"

namespace heddle {

namespace {

// What one participant of a cycle does: it takes `held`, which the one before it wants, and then `wanted`.
struct Link {
  const Dependency* dependency = nullptr;
  const Acquisition* held = nullptr;
};

class DeadlockChecker : public Checker {
 public:
  DeadlockChecker(const CheckerContext& context, std::size_t collect_every)
      : names_(context.names),
        findings_(context.findings),
        budget_(context.options.budget),
        collect_every_(collect_every),
        collect_at_ended_(collect_every),
        search_(locksets_, context.options.budget, collect_every,
                [this](DependencyCycle cycle) { report(cycle); }) {}

  void process(const EventBatch& batch) override;
  Coverage coverage() const override;

 private:
  struct Thread {
    std::vector<Acquisition> holding;  // locks held, in the order they were taken
    std::size_t listed = 0;            // how many of them, from the first on, have their places up to date
    Doubt doubt = Doubt::kNone;        // about the stretch since it last held no lock
  };
  // Of each participant the lock it holds and the one it wants, with their sites; the least one comes first,
  // so that it does not matter where the cycle begins.
  using LocksAndSites = std::vector<std::array<uint32_t, 4>>;
  struct Reported {
    std::size_t handle;  // in findings_
    Strength strength;
  };

  void acquire(const Event& event, EventIndex index);
  void collect();
  void number_anew();
  PlacesId places(Thread& thread);
  Dependency what_waits(const Event& event, const Acquisition& wanted, Doubt doubt);
  void release(const Event& event);
  void synchronize(const Event& event);
  void report(DependencyCycle cycle);
  Finding make_finding(const std::vector<Link>& links, Strength strength) const;
  std::string place(SiteId site) const;
  std::string conclusion(const std::vector<Link>& links) const;
  std::string describe(const std::vector<Acquisition>& holding) const;
  std::string lock_name(const Acquisition& one) const {
    return printable(names_.lock(lives_.lock(one.lock)));
  }
  std::string thread_name(const Link& link) const {
    return printable(names_.thread(link.dependency->thread));
  }
  Thread& thread(ThreadId id) {
    if (id >= threads_.size()) threads_.resize(id + std::size_t{1});
    return threads_[id];
  }

  const Names& names_;
  Findings& findings_;
  uint64_t budget_;  // steps the search may take in all
  std::size_t collect_every_;
  std::size_t collect_at_ended_;  // after so many locks have ended
  LockLives lives_;               // locks, here and in all that follows, are these
  LocksetTable locksets_;
  LockPlaces places_;
  HeldLocks held_{locksets_};
  ForcedOrder order_{held_};
  DeadlockSearch search_;
  std::vector<Thread> threads_;   // by thread
  ThreadId late_thread_ = kNoId;  // came without a fork after something was collected
  EventIndex exhausted_at_ = 0;   // where the budget ran out
  std::map<LocksAndSites, Reported> reported_;
};

void DeadlockChecker::process(const EventBatch& batch) {
  if (search_.exhausted()) return;
  for (const uint32_t lock : batch.ended_locks) lives_.end(lock);
  if (lives_.ended().size() >= collect_at_ended_) collect();
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const Event& event = batch.events[i];
    if (order_.meet(event.thread) && search_.collected() > 0 && late_thread_ == kNoId)
      late_thread_ = event.thread;
    switch (event.operation) {
      case Operation::kAcquire:
      case Operation::kAcquireShared:
        acquire(event, batch.first + i);
        if (search_.exhausted()) {
          exhausted_at_ = batch.first + i;
          return;
        }
        break;
      case Operation::kRelease:
      case Operation::kReleaseShared: release(event); break;
      case Operation::kFork:
      case Operation::kJoin:
      case Operation::kArrive:
      case Operation::kLeave:
      case Operation::kPost:
      case Operation::kWait:
      case Operation::kWake:
      case Operation::kThreadEnd: synchronize(event); break;
      case Operation::kSync:
        if (is_hand_over(event)) synchronize(event);
        break;
      case Operation::kRead:
      case Operation::kWrite:
      case Operation::kAtomicRead:
      case Operation::kAtomicWrite:
      case Operation::kAtomicUpdate:
      case Operation::kAtomicCompareFail:
      case Operation::kThreadBegin:
      case Operation::kBeginAtomic:
      case Operation::kBeginDeterministic:
      case Operation::kEnd:
      case Operation::kNotify:
      case Operation::kFence:
      case Operation::kCommit:
      case Operation::kAlloc:
      case Operation::kFree:
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
      case Operation::kNested: break;
    }
  }
}

void DeadlockChecker::acquire(const Event& event, EventIndex index) {
  const bool shared = event.operation == Operation::kAcquireShared;
  Thread& thread = this->thread(event.thread);
  const uint32_t lock = lives_.of(event.object);
  if (search_.worth_collecting()) collect();
  const PlacesId list = places_.extend(places(thread), lock, event.site, shared);
  const Acquisition wanted{index, lock, event.site, list, shared, event.tries, is_together(event)};
  // Who only tries waits for nobody.
  if (!thread.holding.empty() && !event.tries) {
    const Doubt doubt = thread.doubt == Doubt::kNone && order_.past_holds_lock(event.thread)
                            ? Doubt::kPastHoldsLock
                            : thread.doubt;
    Dependency dependency = what_waits(event, wanted, doubt);
    if (!dependency.holding.empty() && !search_.knows(dependency.stretch, dependency.wanted, doubt))
      search_.add(std::move(dependency));
  }
  thread.holding.push_back(wanted);
  thread.listed = thread.holding.size();
  held_.acquire(event.thread, lock, shared);
}

// Who takes several locks together waits for each of them with what it held before, and with none of them.
Dependency DeadlockChecker::what_waits(const Event& event, const Acquisition& wanted, Doubt doubt) {
  const std::vector<Acquisition>& holding = threads_[event.thread].holding;
  Dependency dependency{event.thread,
                        wanted,
                        held_.of(event.thread),
                        holding,
                        order_.clock(event.thread),
                        order_.stretch(event.thread),
                        doubt};
  if (!wanted.together) return dependency;
  std::vector<Acquisition>& before = dependency.holding;
  while (before.back().together && before.size() > 1) before.pop_back();
  before.pop_back();  // the first of them
  dependency.held = kEmptyLockset;
  PlacesId list = kNoPlaces;
  for (const Acquisition& one : before) {
    dependency.held = locksets_.add(dependency.held, one.lock, one.shared);
    list = one.places;
  }
  dependency.wanted.places = places_.extend(list, wanted.lock, wanted.site, wanted.shared);
  return dependency;
}

void DeadlockChecker::collect() {
  search_.collect(order_, lives_);
  if (!lives_.ended().empty()) number_anew();
}

// Forgets the locks that have ended, but for those the search still knows, and all lists with them.
void DeadlockChecker::number_anew() {
  locksets_ = {};
  places_ = {};
  held_.copy_from(HeldLocks(locksets_));
  for (ThreadId id = 0; id < threads_.size(); ++id) {
    Thread& thread = threads_[id];
    thread.listed = 0;
    places(thread);
    for (const Acquisition& one : thread.holding) held_.acquire(id, one.lock, one.shared);
  }
  std::vector<bool> is_needed(lives_.size());
  search_.restate_all([&](Dependency& dependency) {
    dependency.held = kEmptyLockset;
    PlacesId list = kNoPlaces;
    for (Acquisition& one : dependency.holding) {
      dependency.held = locksets_.add(dependency.held, one.lock, one.shared);
      list = one.places = places_.extend(list, one.lock, one.site, one.shared);
      is_needed[one.lock] = true;
    }
    Acquisition& wanted = dependency.wanted;
    wanted.places = places_.extend(list, wanted.lock, wanted.site, wanted.shared);
    is_needed[wanted.lock] = true;
  });
  lives_.give_back([&](uint32_t number) { return is_needed[number]; });
  collect_at_ended_ = lives_.ended().size() + std::max(collect_every_, lives_.size() / 2);
}

// Where the thread took the locks it holds. A release out of turn leaves the lists of the locks after it to
// be made anew here, when the next acquisition needs them.
PlacesId DeadlockChecker::places(Thread& thread) {
  for (; thread.listed < thread.holding.size(); ++thread.listed) {
    Acquisition& one = thread.holding[thread.listed];
    const PlacesId before = thread.listed == 0 ? kNoPlaces : thread.holding[thread.listed - 1].places;
    one.places = places_.extend(before, one.lock, one.site, one.shared);
  }
  return thread.holding.empty() ? kNoPlaces : thread.holding.back().places;
}

void DeadlockChecker::release(const Event& event) {
  Thread& thread = this->thread(event.thread);
  std::vector<Acquisition>& holding = thread.holding;
  const uint32_t lock = lives_.of(event.object);
  if (holding.back().lock != lock && thread.doubt == Doubt::kNone) thread.doubt = Doubt::kNotNested;
  // Looked for from the end: locks are mostly released in the reverse order.
  const auto place = std::find_if(holding.rbegin(), holding.rend(),
                                  [&](const Acquisition& one) { return one.lock == lock; });
  const bool was_tried = place->tries || place->together;
  const auto gone = holding.erase(std::next(place).base());
  thread.listed = std::min(thread.listed, static_cast<std::size_t>(gone - holding.begin()));
  // It must have been free: in another schedule it need not be, and then the thread goes on otherwise, or
  // does not get what it took together with it and may still have.
  if (was_tried && thread.doubt == Doubt::kNone) thread.doubt = Doubt::kTried;
  if (holding.empty()) thread.doubt = Doubt::kNone;
  held_.release(event.thread, lock);
}

void DeadlockChecker::synchronize(const Event& event) {
  Thread& thread = this->thread(event.thread);
  if (!thread.holding.empty()) thread.doubt = Doubt::kSynchronized;
  order_.update(event);
}

// Turns the cycle so that it begins with the lock taken first, and says each lock cycle once per set of
// sites.
void DeadlockChecker::report(DependencyCycle cycle) {
  std::vector<Link> links;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const uint32_t lock = cycle[(i + cycle.size() - 1) % cycle.size()]->wanted.lock;
    const std::vector<Acquisition>& holding = cycle[i]->holding;
    links.push_back({cycle[i], &*std::find_if(holding.begin(), holding.end(),
                                              [&](const Acquisition& one) { return one.lock == lock; })});
  }
  std::rotate(links.begin(),
              std::min_element(links.begin(), links.end(),
                               [](const Link& a, const Link& b) { return a.held->index < b.held->index; }),
              links.end());
  LocksAndSites what;
  for (const Link& link : links)
    what.push_back({lives_.lock(link.held->lock), link.held->site, lives_.lock(link.dependency->wanted.lock),
                    link.dependency->wanted.site});
  std::rotate(what.begin(), std::min_element(what.begin(), what.end()), what.end());
  const bool certain = std::all_of(cycle.begin(), cycle.end(),
                                   [](const Dependency* one) { return one->doubt == Doubt::kNone; });
  const Strength strength = certain ? Strength::kPredicted : Strength::kPotential;

  const auto known = reported_.find(what);
  if (known != reported_.end() && known->second.strength <= strength)
    return findings_.again(known->second.handle);
  reported_[what] = {findings_.add(make_finding(links, strength)), strength};
}

Finding DeadlockChecker::make_finding(const std::vector<Link>& links, Strength strength) const {
  Finding finding;
  finding.rule = &kDeadlockRules[0];
  finding.checker = kDeadlockChecker.name;
  finding.strength = strength;
  std::vector<std::string> threads;
  std::vector<std::string> locks;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    const Acquisition& wanted = link.dependency->wanted;
    threads.push_back(thread_name(link));
    locks.push_back(lock_name(*link.held));
    const auto add_step = [&](const Acquisition& acquisition) -> Step& {
      Event event;
      event.operation = acquisition.shared ? Operation::kAcquireShared : Operation::kAcquire;
      event.tries = acquisition.tries;
      if (acquisition.together) event.order = MemoryOrder::kAcqRel;
      event.thread = link.dependency->thread;
      event.object = lives_.lock(acquisition.lock);
      event.site = acquisition.site;
      return finding.steps.emplace_back(make_step(event, acquisition.index, names_));
    };
    add_step(*link.held);
    Step& wants = add_step(wanted);
    wants.held = describe(link.dependency->holding);
    wants.because = fmt::format("{} waits for {}, which {} holds", threads.back(), lock_name(wanted),
                                thread_name(links[(i + 1) % links.size()]));
  }
  std::sort(finding.steps.begin(), finding.steps.end(),
            [](const Step& a, const Step& b) { return a.event < b.event; });
  finding.message = fmt::format("{} take {} in {}", join_with_and(threads), join_with_and(locks),
                                links.size() == 2 ? "opposite orders" : "a circle");
  finding.conclusion = conclusion(links);
  finding.advice =
      fmt::format("take {} in the same order everywhere, or lock them together with std::scoped_lock",
                  join_with_and(locks));
  return finding;
}

// "holding mu and lk (shared)", in the order of the trace's locks.
std::string DeadlockChecker::describe(const std::vector<Acquisition>& holding) const {
  LocksetTable table;
  LocksetId set = kEmptyLockset;
  for (const Acquisition& one : holding) set = table.add(set, lives_.lock(one.lock), one.shared);
  return table.describe(set, names_);
}

// The innermost frame in words, as the report has it beside the steps: a bare number means nothing on its
// own.
std::string DeadlockChecker::place(SiteId site) const {
  const std::vector<std::string> frames = names_.frames(site);
  if (frames.empty() || frames.front().empty()) return {};
  const bool number = frames.front().find_first_not_of("0123456789") == std::string::npos;
  return (number ? "site " : "") + printable(frames.front());
}

std::string DeadlockChecker::conclusion(const std::vector<Link>& links) const {
  std::vector<std::string> stops;
  for (const Link& link : links) {
    const Acquisition& wanted = link.dependency->wanted;
    std::string where = place(wanted.site);
    if (where.empty()) where = fmt::format("it takes {}", lock_name(wanted));
    stops.push_back(
        fmt::format("{} {} {}", thread_name(link), stops.empty() ? "stops before" : "before", where));
  }
  std::string text =
      fmt::format("If {}, {} wait forever.", join_with_and(stops), links.size() == 2 ? "both" : "all");
  for (const Link& link : links) {
    const std::string name = thread_name(link);
    switch (link.dependency->doubt) {
      case Doubt::kNone: continue;
      case Doubt::kNotNested:
        return text +
               fmt::format(" Not certain to be possible: {} does not release its locks in reverse order.",
                           name);
      case Doubt::kSynchronized:
        return text + fmt::format(
                          " Not certain to be possible: {} waits for or signals other threads while it holds "
                          "a lock.",
                          name);
      case Doubt::kTried:
        return text + fmt::format(
                          " Not certain to be possible: {} has tried for a lock, or taken it together with "
                          "others, and given it back, while it held another.",
                          name);
      case Doubt::kPastHoldsLock:
        return text + fmt::format(
                          " Not certain to be possible: a thread that {} waited for held a lock then.", name);
    }
  }
  return text;
}

Coverage DeadlockChecker::coverage() const {
  Coverage coverage;
  if (search_.exhausted()) {
    coverage.undecided = true;
    coverage.note = fmt::format(
        "the search for lock-order cycles used up its budget of {} at event {}; what comes after was not "
        "checked, try "
        "a larger budget",
        counted(budget_, "step"), exhausted_at_);
  } else if (late_thread_ != kNoId) {
    coverage.undecided = true;
    coverage.note = fmt::format(
        "{} appeared without a fork after earlier acquisitions had been forgotten, so cycles between those "
        "and its own "
        "were not looked for",
        printable(names_.thread(late_thread_)));
  }
  return coverage;
}

}  // namespace

std::unique_ptr<Checker> make_deadlock_checker(const CheckerContext& context) {
  return make_deadlock_checker(context, 1024);
}

std::unique_ptr<Checker> make_deadlock_checker(const CheckerContext& context, std::size_t collect_every) {
  return std::make_unique<DeadlockChecker>(context, collect_every);
}

}  // namespace heddle
