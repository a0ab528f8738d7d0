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

TEST(Deadlock, TwoLocksInOppositeOrders) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(a)  |
    acq(b)  |
    rel(b)  |
    rel(a)  |
            | acq(b)
            | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

TEST(Deadlock, SameOrderIsClean) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(a)  |
    acq(b)  |
    rel(b)  |
    rel(a)  |
            | acq(a)
            | acq(b)
    => clean
  )");
}

// std::lock() and std::scoped_lock wait for one lock and try the others.
TEST(Deadlock, WhoTriesWaitsForNobody) {
  expect_table("deadlock", R"(
    T1          | T2
    acq(a)      |
    acq(b,try)  |
    rel(b)      |
    rel(a)      |
                | acq(b)
                | acq(a)
    => clean
  )");
}

TEST(Deadlock, WhatWasTriedForIsHeld) {
  expect_table("deadlock", R"(
    T1          | T2
    acq(a,try)  |
    acq(b)      |
    rel(b)      |
    rel(a)      |
                | acq_sh(b,try)
                | acq(a)
    => lock-order-cycle predicted: T1 acq(a,try), T1 acq(b), T2 acq_sh(b,try), T2 acq(a)
  )");
}

// T2 passes only while T1 does not hold a, and T1 only while T2 does not hold b.
TEST(Deadlock, WhatWasTriedForAndGivenBackMustHaveBeenFree) {
  expect_table("deadlock", R"(
    T1          | T2
    acq(a)      |
    acq(b,try)  |
    rel(b)      |
    acq(b)      |
    rel(b)      |
    rel(a)      |
                | acq(b)
                | acq(a,try)
                | rel(a)
                | acq(a)
    => lock-order-cycle potential: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

// T0 does the same twice, once in doubt and once not, in one stretch: neither stands for the other.
TEST(Deadlock, EachDoubtIsKeptApart) {
  expect_table("deadlock", R"(
    T0          | T1         | T2
                |            | acq(a)
                |            | post(s)
    acq(b)      |            |
    acq(c)      |            |
    wait(s)     |            |
    rel(b)      |            |
    rel(c)      |            |
    acq(c)      |            |
    acq_sh(b)   |            |
    rel(c)      |            |
                | acq(c)     |
                | acq_sh(b)  |
    => lock-order-cycle predicted: T0 acq(b), T0 acq(c), T1 acq(c), T1 acq_sh(b)
  )");
}

TEST(Deadlock, OneThreadInBothOrdersIsClean) {
  expect_table("deadlock", R"(
    T1
    acq(a)
    acq(b)
    rel(b)
    rel(a)
    acq(b)
    acq(a)
    => clean
  )");
}

TEST(Deadlock, ThreeLocksThreeThreads) {
  expect_table("deadlock", R"(
    T1      | T2      | T3
    acq(a)  |         |
    acq(b)  |         |
    rel(b)  |         |
    rel(a)  |         |
            | acq(b)  |
            | acq(c)  |
            | rel(c)  |
            | rel(b)  |
            |         | acq(c)
            |         | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(c), T3 acq(c), T3 acq(a)
  )");
}

// The same three edges, two of them by one thread, which cannot be in two places.
TEST(Deadlock, ThreeLocksTwoThreadsIsClean) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(a)  |
    acq(b)  |
    rel(b)  |
    rel(a)  |
    acq(b)  |
    acq(c)  |
    rel(c)  |
    rel(b)  |
            | acq(c)
            | acq(a)
    => clean
  )");
}

TEST(Deadlock, FourPhilosophers) {
  expect_table("deadlock", R"(
    T1      | T2      | T3      | T4
    acq(a)  |         |         |
    acq(b)  |         |         |
    rel(b)  |         |         |
    rel(a)  |         |         |
            | acq(b)  |         |
            | acq(c)  |         |
            | rel(c)  |         |
            | rel(b)  |         |
            |         | acq(c)  |
            |         | acq(d)  |
            |         | rel(d)  |
            |         | rel(c)  |
            |         |         | acq(d)
            |         |         | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(c), T3 acq(c), T3 acq(d), T4 acq(d), T4 acq(a)
  )");
}

TEST(Deadlock, GateLockKeepsThemApart) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(g)  |
    acq(a)  |
    acq(b)  |
    rel(b)  |
    rel(a)  |
    rel(g)  |
            | acq(g)
            | acq(b)
            | acq(a)
    => clean
  )");
}

TEST(Deadlock, GateHeldSharedByBothIsNoGate) {
  expect_table("deadlock", R"(
    T1         | T2
    acq_sh(g)  |
    acq(a)     |
    acq(b)     |
    rel(b)     |
    rel(a)     |
    rel_sh(g)  |
               | acq_sh(g)
               | acq(b)
               | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

TEST(Deadlock, GateHeldSharedByOneIsAGate) {
  expect_table("deadlock", R"(
    T1         | T2
    acq_sh(g)  |
    acq(a)     |
    acq(b)     |
    rel(b)     |
    rel(a)     |
    rel_sh(g)  |
               | acq(g)
               | acq(b)
               | acq(a)
    => clean
  )");
}

// A gate between only two of three participants keeps the third from ever closing the circle.
TEST(Deadlock, GateBetweenTwoOfThree) {
  expect_table("deadlock", R"(
    T1      | T2      | T3
    acq(g)  |         |
    acq(a)  |         |
    acq(b)  |         |
    rel(b)  |         |
    rel(a)  |         |
    rel(g)  |         |
            | acq(g)  |
            | acq(b)  |
            | acq(c)  |
            | rel(c)  |
            | rel(b)  |
            | rel(g)  |
            |         | acq(c)
            |         | acq(a)
    => clean
  )");
}

TEST(Deadlock, ForkOrders) {
  expect_table("deadlock", R"(
    T1        | T2
    acq(a)    |
    acq(b)    |
    rel(b)    |
    rel(a)    |
    fork(T2)  |
              | acq(b)
              | acq(a)
    => clean
  )");
}

TEST(Deadlock, JoinOrders) {
  expect_table("deadlock", R"(
    T1        | T2
    fork(T2)  |
              | acq(a)
              | acq(b)
              | rel(b)
              | rel(a)
    join(T2)  |
    acq(b)    |
    acq(a)    |
    => clean
  )");
}

// T2 is joined before T3 is forked: their acquisitions are ordered though neither forked the other.
TEST(Deadlock, JoinThenForkOrdersTheChildren) {
  expect_table("deadlock", R"(
    T1        | T2      | T3
    fork(T2)  |         |
              | acq(a)  |
              | acq(b)  |
              | rel(b)  |
              | rel(a)  |
    join(T2)  |         |
    fork(T3)  |         |
              |         | acq(b)
              |         | acq(a)
    => clean
  )");
}

TEST(Deadlock, ForkedSiblingsAreConcurrent) {
  expect_table("deadlock", R"(
    T1        | T2      | T3
    fork(T2)  |         |
    fork(T3)  |         |
              | acq(a)  |
              | acq(b)  |
              | rel(b)  |
              | rel(a)  |
              |         | acq(b)
              |         | acq(a)
    => lock-order-cycle predicted: T2 acq(a), T2 acq(b), T3 acq(b), T3 acq(a)
  )");
}

TEST(Deadlock, BarrierOrders) {
  expect_table("deadlock", R"(
    T1         | T2
    acq(a)     |
    acq(b)     |
    rel(b)     |
    rel(a)     |
    arrive(p)  |
               | arrive(p)
    leave(p)   |
               | leave(p)
               | acq(b)
               | acq(a)
    => clean
  )");
}

TEST(Deadlock, SamePhaseIsConcurrent) {
  expect_table("deadlock", R"(
    T1         | T2
    arrive(p)  |
               | arrive(p)
    leave(p)   |
               | leave(p)
    acq(a)     |
    acq(b)     |
    rel(b)     |
    rel(a)     |
               | acq(b)
               | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

TEST(Deadlock, SemaphoreOrders) {
  expect_table("deadlock", R"(
    T1       | T2
    acq(a)   |
    acq(b)   |
    rel(b)   |
    rel(a)   |
    post(s)  |
             | wait(s)
             | acq(b)
             | acq(a)
    => clean
  )");
}

// Notifying, atomics and locks do not force an order.
TEST(Deadlock, NotifyAndAtomicsDoNotOrder) {
  expect_table("deadlock", R"(
    T1             | T2
    acq(a)         |
    acq(b)         |
    rel(b)         |
    rel(a)         |
    aw(f,release)  |
    notify(c)      |
                   | wake(c)
                   | ar(f,acquire)
                   | acq(b)
                   | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

TEST(Deadlock, ReadersOnlyIsClean) {
  expect_table("deadlock", R"(
    T1         | T2
    acq_sh(a)  |
    acq_sh(b)  |
    rel_sh(b)  |
    rel_sh(a)  |
               | acq_sh(b)
               | acq_sh(a)
    => clean
  )");
}

TEST(Deadlock, WritersAmongReadersBlock) {
  expect_table("deadlock", R"(
    T1         | T2
    acq_sh(a)  |
    acq(b)     |
    rel(b)     |
    rel_sh(a)  |
               | acq_sh(b)
               | acq(a)
    => lock-order-cycle predicted: T1 acq_sh(a), T1 acq(b), T2 acq_sh(b), T2 acq(a)
  )");
}

// T2 wants a shared, which T1 only holds shared.
TEST(Deadlock, OneSharedPairIsEnoughToPass) {
  expect_table("deadlock", R"(
    T1         | T2
    acq_sh(a)  |
    acq(b)     |
    rel(b)     |
    rel_sh(a)  |
               | acq(b)
               | acq_sh(a)
    => clean
  )");
}

// Two readers hold r and one of them is enough to block T1: two cycles, none of them with all three.
TEST(Deadlock, EachReaderClosesItsOwnCycle) {
  expect_table("deadlock", R"(
    T1         | T2         | T3
    acq(a)     |            |
    acq(r)     |            |
    rel(r)     |            |
    rel(a)     |            |
               | acq_sh(r)  |
               | acq(a)     |
               | rel(a)     |
               | rel_sh(r)  |
               |            | acq_sh(r)
               |            | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(r), T2 acq_sh(r), T2 acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(r), T3 acq_sh(r), T3 acq(a)
  )");
}

// A list walked hand over hand from both ends. This one can deadlock, but the cycle alone does not show it.
TEST(Deadlock, HandOverHandIsPotential) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(a)  |
    acq(b)  |
    rel(a)  |
    acq(c)  |
    rel(b)  |
    rel(c)  |
            | acq(c)
            | acq(b)
            | rel(c)
            | acq(a)
    => lock-order-cycle potential: T1 acq(b), T1 acq(c), T2 acq(c), T2 acq(b)
    => lock-order-cycle potential: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

// Why hand-over-hand is not certain: the last acquisitions form a gate-free cycle that no schedule reaches.
// When T2 holds g and a, it has passed through b, so T1 does not hold b, and it cannot take it without g.
// (Found by searching all schedules of random traces.)
TEST(Deadlock, HandOverHandCycleThatNoScheduleReaches) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(g)  |
    acq(a)  |
    acq(b)  |
    rel(g)  |
    rel(a)  |
    acq(a)  |
    rel(b)  |
    rel(a)  |
            | acq(g)
            | acq(b)
            | acq(a)
            | rel(b)
            | acq(b)
    => lock-order-cycle potential: T1 acq(b), T1 acq(a), T2 acq(a), T2 acq(b)
  )");
}

TEST(Deadlock, SynchronizationWhileHoldingIsPotential) {
  expect_table("deadlock", R"(
    T1       | T2
    acq(a)   |
    post(s)  |
    acq(b)   |
    rel(b)   |
    rel(a)   |
             | acq(b)
             | acq(a)
    => lock-order-cycle potential: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

// What main learns when it joins Z ends after its own critical section, not inside it.
TEST(Deadlock, ForkedInsideACriticalSectionAndJoinedAfterItIsPredicted) {
  expect_table("deadlock", R"(
    main     | A      | B      | Z
    acq(g)   |        |        |
    fork(Z)  |        |        |
    rel(g)   |        |        |
    join(Z)  |        |        |
    fork(A)  |        |        |
    fork(B)  |        |        |
             | acq(a) |        |
             | acq(b) |        |
             | rel(b) |        |
             | rel(a) |        |
             |        | acq(b) |
             |        | acq(a) |
    => lock-order-cycle predicted: A acq(a), A acq(b), B acq(b), B acq(a)
  )");
}

// T3 is last heard of outside its critical section; had it not posted t, it would stop inside.
TEST(Deadlock, TheLatestThatIsKnownOfAThreadDecides) {
  const auto trace = [](std::string_view second_post, std::string_view strength) {
    return fmt::format(R"(
      T1      | T2     | T3
              |        | acq(m)
              |        | post(s)
              |        | rel(m)
              |        | {}
      wait(s) |        |
      wait(t) |        |
      acq(a)  |        |
      acq(b)  |        |
      rel(b)  |        |
      rel(a)  |        |
              | acq(b) |
              | acq(a) |
      => lock-order-cycle {}: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
    )",
                       second_post, strength);
  };
  expect_table("deadlock", trace("post(t)", "predicted"));
  expect_table("deadlock", trace("post(u)", "potential"));
}

// T2 begins while T1 holds m: stopping T1 there, as the argument for "predicted" does, would leave m held.
TEST(Deadlock, ForkedInsideACriticalSectionIsPotential) {
  expect_table("deadlock", R"(
    T1        | T2
    acq(m)    |
    fork(T2)  |
    rel(m)    |
    acq(a)    |
    acq(b)    |
    rel(b)    |
    rel(a)    |
              | acq(b)
              | acq(a)
    => lock-order-cycle potential: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

TEST(Deadlock, RecursiveLockIsOneHold) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(a)  |
    acq(a)  |
    rel(a)  |
    acq(b)  |
    rel(b)  |
    acq(a)  |
    rel(a)  |
    rel(a)  |
            | acq(b)
            | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

// a is still held when it is taken again inside b: no b → a.
TEST(Deadlock, TakingAHeldLockAgainIsNoDependency) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(a)  |
    acq(b)  |
    acq(a)  |
    rel(a)  |
    rel(b)  |
    rel(a)  |
            | acq(a)
            | acq(b)
    => clean
  )");
}

TEST(Deadlock, EachLockCycleOnce) {
  std::string trace;
  for (int round = 0; round < 10; ++round)
    trace +=
        "T1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|x:3\nT1|rel(a)|x:4\nT1|post(s)|x:5\n"
        "T2|acq(b)|y:1\nT2|acq(a)|y:2\nT2|rel(a)|y:3\nT2|rel(b)|y:4\nT2|post(s)|y:5\n";
  EXPECT_EQ(check_text("deadlock", trace).size(), 1U);
}

// Two places of T1 and one of T2 make two pairs. The numbers of sites, which an operation elsewhere shifts,
// do not matter.
TEST(Deadlock, PlacesInDifferentStretchesAreToldApart) {
  for (const char* elsewhere : {"", "z:1"}) {
    const std::string trace = fmt::format(
        "T1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|\nT1|rel(a)|\nT1|post(s)|{}\n"
        "T1|acq(a)|x:5\nT1|acq(b)|x:6\nT1|rel(b)|\nT1|rel(a)|\nT2|acq(b)|y:1\nT2|acq(a)|y:2\n",
        elsewhere);
    EXPECT_EQ(check_text("deadlock", trace).size(), 2U) << trace;
  }
}

// Whoever suppresses the first pair must still hear of the second.
TEST(Deadlock, PlacesInOneStretchAreToldApart) {
  const std::vector<Finding> findings = check_text(
      "deadlock",
      "T2|acq(b)|y:1\nT2|acq(a)|y:2\nT2|rel(a)|\nT2|rel(b)|\nT1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|\n"
      "T1|rel(a)|\nT1|acq(a)|x:5\nT1|acq(b)|x:6\nT1|rel(b)|\nT1|rel(a)|\n");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].conclusion, "If T2 stops before y:2 and T1 before x:2, both wait forever.");
  EXPECT_EQ(findings[1].conclusion, "If T2 stops before y:2 and T1 before x:6, both wait forever.");
}

// What was uncertain in the first round is certain in the second, at the same sites.
TEST(Deadlock, ACertainOccurrenceWins) {
  const std::string round =
      "T1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|x:3\nT1|rel(a)|x:4\n"
      "T2|acq(b)|y:1\n{}T2|acq(a)|y:2\nT2|rel(a)|y:3\nT2|rel(b)|y:4\n";
  const std::string uncertain = fmt::format(fmt::runtime(round), "T2|post(s)|\n");
  const std::string certain = fmt::format(fmt::runtime(round), "");
  ASSERT_EQ(check_text("deadlock", uncertain).size(), 1U);
  EXPECT_EQ(check_text("deadlock", uncertain)[0].strength, Strength::kPotential);
  const std::vector<Finding> both = check_text("deadlock", uncertain + certain);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].strength, Strength::kPredicted);
  EXPECT_EQ(both[0].conclusion, "If T1 stops before x:2 and T2 before y:2, both wait forever.");
}

TEST(Deadlock, Argues) {
  const std::vector<Finding> findings =
      check_text("deadlock",
                 "T1|acq(a)|bank.cpp:30 in f\nT1|acq(b)|bank.cpp:31 in f\nT1|rel(b)|\nT1|rel(a)|\n"
                 "T2|acq(b)|bank.cpp:40 in g\nT2|acq(a)|bank.cpp:41 in g\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message, "T1 and T2 take a and b in opposite orders");
  EXPECT_EQ(findings[0].steps[1].because, "T1 waits for b, which T2 holds");
  EXPECT_EQ(findings[0].steps[1].held, "holding a");
  EXPECT_EQ(findings[0].steps[3].because, "T2 waits for a, which T1 holds");
  EXPECT_EQ(findings[0].conclusion,
            "If T1 stops before bank.cpp:31 in f and T2 before bank.cpp:41 in g, both wait forever.");
  EXPECT_EQ(findings[0].advice,
            "take a and b in the same order everywhere, or lock them together with std::scoped_lock");
}

// Traces of other tools have numbers for sites, and some have none.
TEST(Deadlock, SaysWhereWithoutSourceLines) {
  const std::vector<Finding> findings =
      check_text("deadlock", "T1|acq(a)|1\nT1|acq(b)|2\nT1|rel(b)|\nT1|rel(a)|\nT2|acq(b)|3\nT2|acq(a)|\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].conclusion, "If T1 stops before site 2 and T2 before it takes a, both wait forever.");
}

Coverage coverage_of(const std::string& trace, const CheckerOptions& options = {}) {
  TextReader reader("trace", trace);
  Findings findings;
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(select_checkers("deadlock")[0]->make({reader.names(), findings, options}));
  run_checkers(reader, checkers);
  return checkers[0]->coverage();
}

// One thread after the other closes a cycle with the first; small searches are free, this one is not.
TEST(Deadlock, UndecidedPastTheBudget) {
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
TEST(Deadlock, RepeatedCyclesNeedLittleBudget) {
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

TEST(Deadlock, TakingTurnsNeedsNoBudget) {
  CheckerOptions options;
  options.budget = 0;
  const std::string trace = turns(3000, "T1|acq(a)|1\nT1|acq(b)|2\nT1|rel(b)|\nT1|rel(a)|\n",
                                  "T2|acq(b)|3\nT2|acq(a)|4\nT2|rel(a)|\nT2|rel(b)|\n", "");
  EXPECT_FALSE(coverage_of(trace, options).undecided);
  EXPECT_EQ(check_text("deadlock", trace, options).size(), 0U);
}

// One thread nests its locks and posts, again and again, while another one does nothing that would order the
// two: the latest round stands for the earlier ones, and none of them counts as lost.
TEST(Deadlock, LoopsBesideAnIdleThreadAreForgotten) {
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
TEST(Deadlock, TakingTurnsBesideAThirdNeedsLittleBudget) {
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
TEST(Deadlock, ManyPlacesBehindAGateNeedNoBudget) {
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
TEST(Deadlock, OneLockOrderNeedsNoBudget) {
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

TEST(Deadlock, ForgetsEarlierPhasesWithoutLosingTheLatest) {
  const std::string trace =
      barrier_phases(2000) + "T1|acq(a)|\nT1|acq(b)|\nT1|rel(b)|\nT1|rel(a)|\nT2|acq(b)|\nT2|acq(a)|\n";
  EXPECT_EQ(check_text("deadlock", trace).size(), 1U);
  EXPECT_FALSE(coverage_of(trace).undecided);
}

TEST(Deadlock, SaysWhenAThreadFromNowhereComesTooLate) {
  const Coverage coverage = coverage_of(barrier_phases(2000) + "T3|acq(b)|\nT3|acq(a)|\n");
  EXPECT_TRUE(coverage.undecided);
  EXPECT_EQ(coverage.note,
            "T3 appeared without a fork after earlier acquisitions had been forgotten, so cycles between "
            "those and its "
            "own were not looked for");
}

}  // namespace
}  // namespace heddle::test
