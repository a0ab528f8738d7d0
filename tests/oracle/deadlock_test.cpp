// deadlock equals its definition, and the definition is worth something: against every schedule of small
// traces,
//   - a reachable deadlock is always reported,
//   - a finding marked predicted is a reachable deadlock among its threads,
//   - with properly nested locks, each waited for, and no synchronization inside critical sections every
//     finding is predicted.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "checkers/deadlock.h"
#include "core/pipeline.h"
#include "deadlock_oracle.h"
#include "support/choices.h"
#include "support/ending_locks.h"
#include "support/read_events.h"
#include "support/table.h"

namespace heddle::test {
namespace {

struct LockTraceShape {
  unsigned threads = 4;
  unsigned locks = 4;
  unsigned most_held = 3;  // locks at once by one thread
  std::size_t most_events = 60;
  bool nested = false;  // locks are released in reverse order
  bool loops = false;   // a thread that takes a lock while it holds the same ones is at the same site
  bool sync = true;     // fork, join, barrier and semaphore events
  bool sync_while_holding = true;
};

// Traces of lock and synchronization events only, well formed by construction. Unlike random_trace a thread
// may be joined while it holds a lock, and locks can be made to nest.
class LockTrace {
 public:
  explicit LockTrace(const LockTraceShape& shape) : shape_(shape), threads_(shape.threads) {}

  void step(const Choice& choice) {
    if (events_ == shape_.most_events) return;
    // Mostly the same thread goes on: a thread that is interrupted inside a critical section keeps others
    // out.
    if (choice[0] < 64 || threads_[id_].joined) id_ = choice[0] % shape_.threads;
    Thread& thread = threads_[id_];
    if (thread.joined) return;
    const unsigned kind = choice[1] % (shape_.sync ? 35 : 26);
    const std::string site = shape_.loops ? holding_text(thread) : fmt::format("row {}", events_);
    std::string operation;
    if (kind < 9) operation = acquire(thread, choice[2], false);
    if (kind >= 9 && kind < 14) operation = acquire(thread, choice[2], true);
    if (kind >= 14 && kind < 26) operation = release(thread, choice[2]);
    if (kind >= 26 && (shape_.sync_while_holding || thread.held.empty()))
      operation = synchronize(thread, kind, choice[2]);
    if (operation.empty()) return;
    if (kind >= 14) thread.may_go_on = false;
    thread.acted = true;
    text_ += fmt::format("T{}|{}|{}\n", id_, operation, site);
    ++events_;
  }
  const std::string& text() const { return text_; }

 private:
  struct Holding {
    unsigned lock;
    bool shared;
  };
  struct Thread {
    std::vector<Holding> held;  // in the order taken
    unsigned arrived = 0;       // and not left
    bool acted = false;
    bool forked = false;
    bool joined = false;
    bool may_go_on = false;  // it has just taken a lock, so that it can take another together with it
  };

  std::string holding_text(const Thread& thread) const {
    std::string text = fmt::format("T{} holding", id_);
    for (const Holding& holding : thread.held)
      text += fmt::format(" {}{}", holding.shared ? "shared " : "", holding.lock);
    return text;
  }

  // Takes the lock the choice picks, or the next one that is free.
  std::string acquire(Thread& thread, unsigned choice, bool shared) {
    if (thread.held.size() == shape_.most_held) return {};
    for (unsigned i = 0; i < shape_.locks; ++i) {
      const unsigned lock = (choice + i) % shape_.locks;
      if (!is_free(thread, lock, shared)) continue;
      thread.held.push_back({lock, shared});
      const bool together = thread.may_go_on && choice >= 160;
      const bool tries = !together && choice >= 224;
      thread.may_go_on = !tries;
      return fmt::format("{}(m{}{})", shared ? "acq_sh" : "acq", lock,
                         together ? ",together"
                         : tries  ? ",try"
                                  : "");
    }
    return {};
  }
  bool is_free(const Thread& thread, unsigned lock, bool shared) const {
    for (const Thread& other : threads_)
      for (const Holding& holding : other.held)
        if (holding.lock == lock && (&other == &thread || !shared || !holding.shared)) return false;
    return true;
  }
  std::string release(Thread& thread, unsigned choice) {
    if (thread.held.empty()) return {};
    const std::size_t which = shape_.nested ? thread.held.size() - 1 : choice % thread.held.size();
    const Holding holding = thread.held[which];
    thread.held.erase(thread.held.begin() + static_cast<std::ptrdiff_t>(which));
    return fmt::format("{}(m{})", holding.shared ? "rel_sh" : "rel", holding.lock);
  }
  std::string synchronize(Thread& thread, unsigned kind, unsigned choice) {
    const unsigned child = choice % shape_.threads;
    Thread& other = threads_[child];
    switch (kind) {
      case 26:
        if (child == id_ || other.acted || other.forked) return {};
        other.forked = true;
        return fmt::format("fork(T{})", child);
      case 27:
        if (child == id_ || other.joined || !(other.acted || other.forked)) return {};
        if (!shape_.sync_while_holding && !other.held.empty()) return {};
        other.joined = true;
        return fmt::format("join(T{})", child);
      case 28: ++thread.arrived; return "arrive(b)";
      case 29:
        if (thread.arrived == 0) return {};
        --thread.arrived;
        return "leave(b)";
      case 30: return fmt::format("post(s{})", choice % 2);
      case 31: return fmt::format("wait(s{})", choice % 2);
      case 32: return fmt::format("sync(s{},release)", choice % 2);
      case 33: return fmt::format("sync(s{},acquire)", choice % 2);
      default: return fmt::format("sync(s{})", choice % 2);  // no order that matters here
    }
  }

  LockTraceShape shape_;
  std::vector<Thread> threads_;
  unsigned id_ = 0;  // the thread acting
  std::string text_;
  std::size_t events_ = 0;
};

std::string lock_trace(const LockTraceShape& shape) {
  LockTrace trace(shape);
  for (const Choice& choice : *rc::gen::scale(2.5, any_choices())) trace.step(choice);
  return trace.text();
}

// The cycle a finding argues with. Each participant has two steps: the lock it holds, taken first, and the
// one it wants.
oracle::Cycle cycle_of(const Finding& finding, const std::vector<Event>& events) {
  std::map<ThreadId, std::vector<EventIndex>> steps;
  for (const Step& step : finding.steps) steps[events.at(step.event).thread].push_back(step.event);
  oracle::Cycle cycle;
  for (const auto& [thread, pair] : steps) cycle.insert({thread, pair.at(0), pair.at(1)});
  return cycle;
}

std::set<oracle::Cycle> cycles_of(const std::vector<Finding>& findings, const std::vector<Event>& events) {
  std::set<oracle::Cycle> cycles;
  for (const Finding& finding : findings) cycles.insert(cycle_of(finding, events));
  return cycles;
}

std::set<ThreadId> threads_of(const oracle::Cycle& cycle) {
  std::set<ThreadId> threads;
  for (const oracle::Participant& one : cycle) threads.insert(one.thread);
  return threads;
}

// The findings, with a place for more than people want to read.
std::vector<Finding> check_all(const std::string& trace, std::size_t collect_every, bool& undecided) {
  TextReader reader("trace", trace);
  Findings findings(1'000'000);
  const CheckerOptions options;
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(make_deadlock_checker({reader.names(), findings, options}, collect_every));
  run_checkers(reader, checkers);
  undecided = checkers[0]->coverage().undecided;
  return findings.list();
}

// Every event has its own site, so every cycle is a finding of its own.
void check_definition(const LockTraceShape& shape) {
  const std::string trace = lock_trace(shape);
  const std::vector<Event> events = read_events(trace);
  const std::set<oracle::Cycle> expected = oracle::lock_cycles(events);
  std::size_t longest = 0;
  for (const oracle::Cycle& cycle : expected) longest = std::max(longest, cycle.size());
  RC_TAG(longest == 0 ? std::string("clean") : fmt::format("cycle of {}", longest));
  RC_LOG() << trace;
  bool undecided = false;
  const std::set<oracle::Cycle> found = cycles_of(check_all(trace, 1024, undecided), events);
  RC_ASSERT(!undecided);
  RC_ASSERT(found == expected);
}

RC_GTEST_PROP(DeadlockLaw, EqualsTheDefinition, ()) { check_definition({}); }

RC_GTEST_PROP(DeadlockLaw, EqualsTheDefinitionWithoutForcedOrder, ()) {
  check_definition({.threads = 4, .locks = 3, .most_held = 2, .most_events = 50, .sync = false});
}

// Forgetting as often as possible loses nothing, unless the checker says so.
RC_GTEST_PROP(DeadlockLaw, ForgettingLosesNothing, ()) {
  const std::string trace = lock_trace({.most_events = 120});
  const std::vector<Event> events = read_events(trace);
  const std::set<oracle::Cycle> expected = oracle::lock_cycles(events);
  RC_LOG() << trace;
  bool undecided = false;
  const std::set<oracle::Cycle> found = cycles_of(check_all(trace, 1, undecided), events);
  RC_TAG(undecided ? "undecided" : (expected.empty() ? "clean" : "cycle"));
  RC_ASSERT(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
  RC_ASSERT(undecided || found == expected);
}

// The same for threads that come by the same sites again and again, where it is forgotten as well what
// something later stands for. A finding is one of all the cycles with its sites.
void check_loops(std::size_t collect_every) {
  const std::string trace = lock_trace({.most_events = 120, .nested = true, .loops = true});
  const std::vector<Event> events = read_events(trace);
  RC_LOG() << trace;
  using Sites = std::set<std::vector<SiteId>>;
  const auto sites_of = [&](const oracle::Cycle& cycle) {
    Sites sites;
    for (const oracle::Participant& one : cycle)
      sites.insert({events[one.held].site, events[one.held].object, events[one.wanted].site});
    return sites;
  };
  const std::set<oracle::Cycle> cycles = oracle::lock_cycles(events);
  std::set<Sites> expected;
  for (const oracle::Cycle& cycle : cycles) expected.insert(sites_of(cycle));
  bool undecided = false;
  const std::set<oracle::Cycle> found = cycles_of(check_all(trace, collect_every, undecided), events);
  std::set<Sites> found_sites;
  for (const oracle::Cycle& cycle : found) found_sites.insert(sites_of(cycle));
  RC_TAG(undecided ? "undecided" : (expected.empty() ? "clean" : "cycle"));
  RC_ASSERT(std::includes(cycles.begin(), cycles.end(), found.begin(), found.end()));
  RC_ASSERT(undecided || found_sites == expected);
}

RC_GTEST_PROP(DeadlockLaw, LoopsAreSearchedOnce, ()) { check_loops(1024); }

RC_GTEST_PROP(DeadlockLaw, ForgettingLosesNothingOfLoops, ()) { check_loops(1); }

// The cycles found in the trace, and whether all was looked at.
std::set<oracle::Cycle> cycles_in(EndingLocks& trace, bool& undecided) {
  Findings findings(1'000'000);
  const CheckerOptions options;
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(make_deadlock_checker({trace.names(), findings, options}, 1));
  run_checkers(trace, checkers);
  undecided = checkers[0]->coverage().undecided;
  return cycles_of(findings.list(), trace.events());
}

// Forgetting locks that have ended loses nothing and confuses none with what comes under its number.
RC_GTEST_PROP(DeadlockLaw, EndedLocksAreForgotten, ()) {
  const std::string text = lock_trace({.most_events = 120});
  EndingLocks trace(text, *rc::gen::inRange(1U, 5U), *rc::gen::inRange<std::size_t>(1, 20));
  const std::set<oracle::Cycle> expected = oracle::lock_cycles(trace.events());
  RC_LOG() << text;
  bool undecided = false;
  const std::set<oracle::Cycle> found = cycles_in(trace, undecided);
  RC_TAG(undecided ? "undecided" : (expected.empty() ? "clean" : "cycle"));
  RC_ASSERT(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
  RC_ASSERT(undecided || found == expected);
}

// `gate` ends before T3 closes a cycle of three: two of them had it, and so could not wait at the same time.
TEST(Deadlock, AGateLockThatHasEndedStillKeepsApart) {
  const auto trace = [](std::string_view first, std::string_view second) {
    const auto takes = [](std::string_view thread, std::vector<std::string_view> locks) {
      std::string text;
      for (const std::string_view lock : locks) text += fmt::format("{}|acq({})|here\n", thread, lock);
      std::reverse(locks.begin(), locks.end());
      for (const std::string_view lock : locks) text += fmt::format("{}|rel({})|there\n", thread, lock);
      return text;
    };
    return "M|fork(T1)|a\nM|fork(T2)|a\nM|fork(T3)|a\n" + takes("T1", {first, "m", "n"}) +
           takes("T2", {second, "n", "p"}) + takes("T3", {"other"}) + takes("T3", {"p", "m"});
  };
  bool undecided = false;
  EndingLocks gated(trace("gate", "gate"), 0, 1);
  EXPECT_TRUE(cycles_in(gated, undecided).empty());
  EndingLocks free(trace("one", "two"), 0, 1);
  EXPECT_EQ(cycles_in(free, undecided).size(), 1U);
}

void check_schedules(const LockTraceShape& shape) {
  const std::string trace = lock_trace(shape);
  const std::vector<Event> events = read_events(trace);
  const std::set<std::set<ThreadId>> reachable = oracle::reachable_deadlocks(events);
  RC_LOG() << trace;
  const std::vector<Finding> findings = check_text("deadlock", trace);
  const bool tries = std::any_of(events.begin(), events.end(),
                                 [](const Event& event) { return event.tries || is_together(event); });
  bool any_predicted = false;
  for (const Finding& finding : findings) any_predicted |= finding.strength == Strength::kPredicted;
  RC_TAG(findings.empty()    ? "no finding"
         : any_predicted     ? "predicted"
         : reachable.empty() ? "potential, not reachable"
                             : "potential, reachable");
  const auto within = [](const std::set<ThreadId>& some, const std::set<ThreadId>& all) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  for (const std::set<ThreadId>& deadlock : reachable)
    RC_ASSERT(std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return within(threads_of(cycle_of(finding, events)), deadlock);
    }));
  for (const Finding& finding : findings) {
    if (shape.nested && !shape.sync_while_holding && !tries)
      RC_ASSERT(finding.strength == Strength::kPredicted);
    if (finding.strength != Strength::kPredicted) continue;
    const std::set<ThreadId> threads = threads_of(cycle_of(finding, events));
    RC_ASSERT(std::any_of(reachable.begin(), reachable.end(),
                          [&](const std::set<ThreadId>& deadlock) { return within(deadlock, threads); }));
  }
}

RC_GTEST_PROP(DeadlockLaw, SchedulesOfAnyLocking, ()) {
  check_schedules({.threads = 3, .locks = 3, .most_events = 26});
}

RC_GTEST_PROP(DeadlockLaw, SchedulesOfUnnestedLocksOnly, ()) {
  check_schedules({.threads = 3, .locks = 4, .most_events = 24, .sync = false});
}

RC_GTEST_PROP(DeadlockLaw, SchedulesOfNestedLocks, ()) {
  check_schedules({.threads = 3, .locks = 4, .most_events = 26, .nested = true, .sync_while_holding = false});
}

RC_GTEST_PROP(DeadlockLaw, SchedulesOfFourThreads, ()) {
  check_schedules({.threads = 4,
                   .locks = 4,
                   .most_held = 2,
                   .most_events = 24,
                   .nested = true,
                   .sync_while_holding = false});
}

}  // namespace
}  // namespace heddle::test
