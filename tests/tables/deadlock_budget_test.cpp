// What the search for cycles costs, and what it says when it gives up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "checkers/deadlock_search.h"
#include "checkers/registry.h"
#include "core/pipeline.h"
#include "support/table.h"
#include "trace/text_reader.h"

namespace heddle::test {
namespace {

Coverage coverage_of(const std::string& trace, const CheckerOptions& options = {}) {
  TextReader reader("trace", trace);
  Findings findings;
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(select_checkers("deadlock")[0]->make({reader.names(), findings, options}));
  run_checkers(reader, checkers);
  return checkers[0]->coverage();
}

// One thread after the other closes a cycle with the first; small searches are free, this one is not.
TEST(DeadlockBudget, UndecidedPastTheBudget) {
  std::string trace;
  for (int thread = 0; thread < 70; ++thread)
    trace += fmt::format("T{0}|acq(b)|\nT{0}|acq(a)|\nT{0}|rel(a)|\nT{0}|rel(b)|\n", thread);
  trace += "U|acq(a)|\nU|acq(b)|\n";
  CheckerOptions options;
  options.budget = 2;
  const Coverage coverage = coverage_of(trace, options);
  EXPECT_TRUE(coverage.undecided);
  EXPECT_EQ(
      coverage.note,
      "the search for lock-order cycles used up its budget of 2 steps at event 281; what comes after was "
      "not checked, try a larger budget");
  EXPECT_FALSE(coverage_of(trace).undecided);
}

// The same cycle again and again, in ever new stretches of both threads, is not searched for again.
TEST(DeadlockBudget, RepeatedCyclesNeedLittleBudget) {
  std::string trace;
  for (int round = 0; round < 500; ++round)
    trace +=
        "T1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|x:3\nT1|rel(a)|x:4\nT1|post(s)|x:5\n"
        "T2|acq(b)|y:1\nT2|acq(a)|y:2\nT2|rel(a)|y:3\nT2|rel(b)|y:4\nT2|post(s)|y:5\n";
  CheckerOptions options;
  options.budget = 0;
  EXPECT_FALSE(coverage_of(trace, options).undecided);
  EXPECT_EQ(check_text("deadlock", trace, options).size(), 1U);
}

// Two threads take turns: the locks lie on a cycle, and semaphores order each acquisition before the next.
// `third` is done in every round by somebody they do not wait for.
std::string turns(int rounds, const char* first, const char* second, const std::string& third) {
  std::string trace = "main|fork(T1)|\nmain|fork(T2)|\nmain|fork(T3)|\n";
  for (int round = 0; round < rounds; ++round)
    trace += fmt::format("{}T1|post(s)|\nT2|wait(s)|\n{}T2|post(t)|\nT1|wait(t)|\n{}", first, second, third);
  return trace;
}

TEST(DeadlockBudget, TakingTurnsNeedsNoBudget) {
  CheckerOptions options;
  options.budget = 0;
  const std::string trace = turns(3000, "T1|acq(a)|1\nT1|acq(b)|2\nT1|rel(b)|\nT1|rel(a)|\n",
                                  "T2|acq(b)|3\nT2|acq(a)|4\nT2|rel(a)|\nT2|rel(b)|\n", "");
  EXPECT_FALSE(coverage_of(trace, options).undecided);
  EXPECT_EQ(check_text("deadlock", trace, options).size(), 0U);
}

// One thread nests its locks and posts, again and again, while another one does nothing that would order the
// two: the latest round stands for the earlier ones, and none of them counts as lost.
TEST(DeadlockBudget, LoopsBesideAnIdleThreadAreForgotten) {
  LocksetTable locksets;
  HeldLocks held(locksets);
  ForcedOrder order(held);
  LockPlaces places;
  const LockLives lives;
  DeadlockSearch search(locksets, 0, 100, [](DependencyCycle) { FAIL(); });
  for (const ThreadId thread : {0U, 1U}) order.meet(thread);
  std::size_t most = 0;
  for (EventIndex round = 0; round < 10'000; ++round) {
    const PlacesId first = places.extend(kNoPlaces, 0, 1, false);
    const Acquisition holding{2 * round, 0, 1, first, false};
    const Acquisition wanted{2 * round + 1, 1, 2, places.extend(first, 1, 2, false), false};
    if (search.worth_collecting()) search.collect(order, lives);
    search.add({0,
                wanted,
                locksets.add(kEmptyLockset, 0, false),
                {holding},
                order.clock(0),
                order.stretch(0),
                Doubt::kNone});
    Event post;
    post.operation = Operation::kPost;
    post.thread = 0;
    post.object = 0;
    order.update(post);
    most = std::max(most, search.size());
  }
  EXPECT_LE(most, 101U);
  EXPECT_EQ(search.collected(), 0U);
}

// T3 can come at any time and would close a cycle of three, but the other two never meet.
TEST(DeadlockBudget, TakingTurnsBesideAThirdNeedsLittleBudget) {
  CheckerOptions options;
  options.budget = 20'000;
  const std::string trace = turns(3000, "T1|acq(a)|1\nT1|acq(b)|2\nT1|rel(b)|\nT1|rel(a)|\n",
                                  "T2|acq(b)|3\nT2|acq(c)|4\nT2|rel(c)|\nT2|rel(b)|\n",
                                  "T3|acq(c)|5\nT3|acq(a)|6\nT3|rel(a)|\nT3|rel(c)|\nT3|post(u)|\n");
  EXPECT_FALSE(coverage_of(trace, options).undecided);
  EXPECT_EQ(check_text("deadlock", trace, options).size(), 0U);
  // They do meet, once, in the middle of it.
  EXPECT_EQ(check_text("deadlock",
                       trace +
                           "T1|acq(a)|1\nT1|acq(b)|2\nT1|rel(b)|\nT1|rel(a)|\n"
                           "T2|acq(b)|3\nT2|acq(c)|4\nT2|rel(c)|\nT2|rel(b)|\n" +
                           trace.substr(trace.find("T1|")),
                       options)
                .size(),
            1U);
}

// A gate lock keeps the threads apart, from however many places they come.
TEST(DeadlockBudget, ManyPlacesBehindAGateNeedNoBudget) {
  std::string trace;
  for (int place = 0; place < 300; ++place)
    trace += fmt::format(
        "T1|acq(g)|\nT1|acq(a)|x:{0}\nT1|acq(b)|x:{0}\nT1|rel(b)|\nT1|rel(a)|\nT1|rel(g)|\n"
        "T2|acq(g)|\nT2|acq(b)|y:{0}\nT2|acq(a)|y:{0}\nT2|rel(a)|\nT2|rel(b)|\nT2|rel(g)|\n",
        place);
  CheckerOptions options;
  options.budget = 0;
  EXPECT_FALSE(coverage_of(trace, options).undecided);
  EXPECT_EQ(check_text("deadlock", trace, options).size(), 0U);
}

// Without a cycle of locks nothing is searched, so the smallest budget is enough.
TEST(DeadlockBudget, OneLockOrderNeedsNoBudget) {
  std::string trace;
  for (const char* thread : {"T1", "T2"})
    for (int outer = 0; outer < 30; ++outer)
      for (int inner = outer + 1; inner < 30; ++inner)
        trace += fmt::format("{0}|acq(m{1})|\n{0}|acq(m{2})|\n{0}|rel(m{2})|\n{0}|rel(m{1})|\n", thread,
                             outer, inner);
  CheckerOptions options;
  options.budget = 0;
  EXPECT_FALSE(coverage_of(trace, options).undecided);
}

// Two threads that meet at a barrier again and again; in each phase both nest the same locks.
std::string barrier_phases(int phases) {
  std::string trace;
  for (int phase = 0; phase < phases; ++phase) {
    for (const char* thread : {"T1", "T2"})
      trace += fmt::format("{0}|acq(a)|\n{0}|acq(b)|\n{0}|rel(b)|\n{0}|rel(a)|\n{0}|arrive(p)|\n", thread);
    trace += "T1|leave(p)|\nT2|leave(p)|\n";
  }
  return trace;
}

TEST(DeadlockBudget, ForgetsEarlierPhasesWithoutLosingTheLatest) {
  const std::string trace =
      barrier_phases(2000) + "T1|acq(a)|\nT1|acq(b)|\nT1|rel(b)|\nT1|rel(a)|\nT2|acq(b)|\nT2|acq(a)|\n";
  EXPECT_EQ(check_text("deadlock", trace).size(), 1U);
  EXPECT_FALSE(coverage_of(trace).undecided);
}

TEST(DeadlockBudget, SaysWhenAThreadFromNowhereComesTooLate) {
  const Coverage coverage = coverage_of(barrier_phases(2000) + "T3|acq(b)|\nT3|acq(a)|\n");
  EXPECT_TRUE(coverage.undecided);
  EXPECT_EQ(coverage.note,
            "T3 appeared without a fork after earlier acquisitions had been forgotten, so cycles between "
            "those and its "
            "own were not looked for");
}

}  // namespace
}  // namespace heddle::test
