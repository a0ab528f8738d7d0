// race, rule by rule: what orders two accesses and what does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

TEST(RaceTable, UnorderedWriteAndRead) {
  expect_table("race", R"(
    T1     | T2
    w(x)   |
           | r(x)
    => data-race observed: T1 w(x), T2 r(x)
  )");
}

TEST(RaceTable, UnorderedReadAndWrite) {
  expect_table("race", R"(
    T1     | T2
    r(x)   |
           | w(x)
    => data-race observed: T1 r(x), T2 w(x)
  )");
}

TEST(RaceTable, UnorderedWrites) {
  expect_table("race", R"(
    T1     | T2
    w(x)   |
           | w(x)
    => data-race observed: T1 w(x), T2 w(x)
  )");
}

TEST(RaceTable, ReadsDoNotConflict) {
  expect_table("race", R"(
    T1     | T2
    r(x)   |
           | r(x)
    => clean
  )");
}

TEST(RaceTable, DifferentVariablesDoNotConflict) {
  expect_table("race", R"(
    T1     | T2
    w(x)   |
           | w(y)
    => clean
  )");
}

TEST(RaceTable, LockOrders) {
  expect_table("race", R"(
    T1     | T2
    acq(m) |
    w(x)   |
    rel(m) |
           | acq(m)
           | r(x)
           | rel(m)
    => clean
  )");
}

TEST(RaceTable, AnotherLockDoesNotOrder) {
  expect_table("race", R"(
    T1     | T2
    acq(m) |
    w(x)   |
    rel(m) |
           | acq(k)
           | r(x)
           | rel(k)
    => data-race observed: T1 w(x), T2 r(x)
  )");
}

TEST(RaceTable, AccessAfterTheReleaseIsNotOrdered) {
  expect_table("race", R"(
    T1     | T2
    acq(m) |
    rel(m) |
    w(x)   |
           | acq(m)
           | r(x)
    => data-race observed: T1 w(x), T2 r(x)
  )");
}

TEST(RaceTable, InnerReleaseOfARecursiveLockDoesNotOrder) {
  expect_table("race", R"(
    T1     | T2
    acq(m) |
    acq(m) |
    rel(m) |
    w(x)   |
    rel(m) |
           | acq(m)
           | r(x)
    => clean
  )");
}

TEST(RaceTable, ReadersAreOrderedWithWritersOnly) {
  expect_table("race", R"(
    T1        | T2        | T3
    acq_sh(m) |           |
    w(x)      |           |
    rel_sh(m) |           |
              | acq_sh(m) |
              | r(x)      |
              | rel_sh(m) |
              |           | acq(m)
              |           | r(x)
    => data-race observed: T1 w(x), T2 r(x)
  )");
}

TEST(RaceTable, ForkAndJoinOrder) {
  expect_table("race", R"(
    main     | T1
    w(x)     |
    fork(T1) |
             | w(x)
    join(T1) |
    r(x)     |
    => clean
  )");
}

TEST(RaceTable, ParentAfterForkIsUnordered) {
  expect_table("race", R"(
    main     | T1
    fork(T1) |
    w(x)     |
             | r(x)
    => data-race observed: main w(x), T1 r(x)
  )");
}

TEST(RaceTable, BarrierOrdersPhases) {
  expect_table("race", R"(
    T1        | T2
    w(x)      |
    arrive(b) |
              | arrive(b)
    leave(b)  |
              | leave(b)
              | r(x)
              | arrive(b)
    arrive(b) |
    leave(b)  |
    w(x)      |
    => clean
  )");
}

TEST(RaceTable, ArrivingDoesNotOrderUntilLeaving) {
  expect_table("race", R"(
    T1        | T2
    w(x)      |
    arrive(b) |
              | arrive(b)
              | r(x)
    => data-race observed: T1 w(x), T2 r(x)
  )");
}

// T3 first comes to the barrier in its second phase; its leave is ordered after T1's second arrive.
TEST(RaceTable, LateComerTakesPartInTheOpenPhase) {
  expect_table("race", R"(
    T1        | T2        | T3
    arrive(b) |           |
              | arrive(b) |
    leave(b)  |           |
              | leave(b)  |
    w(x)      |           |
    arrive(b) |           |
              |           | arrive(b)
              |           | leave(b)
              |           | r(x)
    => clean
  )");
}

TEST(RaceTable, SemaphoreOrdersPostBeforeWait) {
  expect_table("race", R"(
    T1      | T2      | T3
    w(x)    |         |
    post(s) |         |
            | post(s) |
            |         | wait(s)
            |         | r(x)
    => clean
  )");
}

TEST(RaceTable, WaitBeforeThePostIsUnordered) {
  expect_table("race", R"(
    T1      | T2
            | wait(s)
    w(x)    |
    post(s) |
            | r(x)
    => data-race observed: T1 w(x), T2 r(x)
  )");
}

TEST(RaceTable, NotifyOrdersNothing) {
  expect_table("race", R"(
    T1        | T2
    w(x)      |
    notify(c) |
              | wake(c)
              | r(x)
    => data-race observed: T1 w(x), T2 r(x)
  )");
}

TEST(RaceTable, FreeBeginsANewLife) {
  expect_table("race", R"(
    T1       | T2
    w(x)     |
    free(x)  |
             | alloc(x)
             | w(x)
    => clean
  )");
}

// The end of a life that the trace says is to be checked: a write to who is not ordered with it.
TEST(RaceTable, ACheckedFreeRacesWithWhoAccessedBefore) {
  expect_table("race", R"(
    T1    | T2
    r(x)  |
          | free(x,checked)
    => data-race observed: T1 r(x), T2 free(x,checked)
  )");
}

TEST(RaceTable, ACheckedFreeRacesWithWhoAccessesAfterwards) {
  expect_table("race", R"(
    T1    | T2
          | w(x)
          | free(x,checked)
    r(x)  |
    => data-race observed: T2 free(x,checked), T1 r(x)
  )");
}

TEST(RaceTable, ACheckedFreeRacesWithAnAtomic) {
  expect_table("race", R"(
    T1              | T2
    armw(x,relaxed) |
                    | free(x,checked)
    => data-race observed: T1 armw(x,relaxed), T2 free(x,checked)
  )");
}

TEST(RaceTable, ACheckedFreeAfterALockIsInOrder) {
  expect_table("race", R"(
    T1      | T2
    acq(m)  |
    w(x)    |
    rel(m)  |
            | acq(m)
            | rel(m)
            | free(x,checked)
    => clean
  )");
}

TEST(RaceTable, AfterACheckedFreeANewLifeForgets) {
  for (const char* life : {"alloc(x)", "free(x)"})
    expect_table("race", fmt::format(R"(
      T1       | T2
               | free(x,checked)
      {:<8} |
      w(x)     |
      => clean
    )",
                                     life));
}

TEST(RaceTable, OnlyTheFreeThatIsCheckedRaces) {
  expect_table("race", R"(
    T1    | T2
    w(x)  |
          | free(x)
    r(x)  |
    => clean
  )");
}

TEST(RaceTable, TwoFreesOfOneVariableRace) {
  expect_table("race", R"(
    T1              | T2
    free(x,checked) |
                    | free(x,checked)
    => data-race observed: T1 free(x,checked), T2 free(x,checked)
  )");
}

TEST(RaceTable, ANewLifeForgetsReleases) {
  expect_table("race", R"(
    T1            | T2
    w(y)          |
    aw(x,release) |
    free(x)       |
                  | ar(x,acquire)
                  | r(y)
    => data-race observed: T1 w(y), T2 r(y)
  )");
}

// ---- C++ atomics
// -------------------------------------------------------------------------------------------------

TEST(RaceTable, AtomicsDoNotRaceWithEachOther) {
  expect_table("race", R"(
    T1              | T2
    aw(x,relaxed)   |
                    | armw(x,relaxed)
                    | ar(x,relaxed)
    => clean
  )");
}

TEST(RaceTable, PlainAccessRacesWithAtomic) {
  expect_table("race", R"(
    T1    | T2
    w(x)  |
          | ar(x,seq_cst)
    => data-race observed: T1 w(x), T2 ar(x,seq_cst)
  )");
  expect_table("race", R"(
    T1            | T2
    aw(x,relaxed) |
                  | r(x)
    => data-race observed: T1 aw(x,relaxed), T2 r(x)
  )");
}

TEST(RaceTable, AtomicLoadDoesNotRaceWithPlainRead) {
  expect_table("race", R"(
    T1            | T2
    ar(x,relaxed) |
                  | r(x)
    => clean
  )");
}

TEST(RaceTable, ReleaseAcquireOrders) {
  expect_table("race", R"(
    T1            | T2
    w(y)          |
    aw(x,release) |
                  | ar(x,acquire)
                  | r(y)
    => clean
  )");
}

TEST(RaceTable, RelaxedDoesNotOrder) {
  expect_table("race", R"(
    T1            | T2
    w(y)          |
    aw(x,relaxed) |
                  | ar(x,acquire)
                  | r(y)
    => data-race observed: T1 w(y), T2 r(y)
  )");
  expect_table("race", R"(
    T1            | T2
    w(y)          |
    aw(x,release) |
                  | ar(x,relaxed)
                  | r(y)
    => data-race observed: T1 w(y), T2 r(y)
  )");
}

TEST(RaceTable, ReadModifyWriteContinuesTheReleaseSequence) {
  expect_table("race", R"(
    T1            | T2              | T3
    w(y)          |                 |
    aw(x,release) |                 |
                  | armw(x,relaxed) |
                  |                 | ar(x,acquire)
                  |                 | r(y)
    => clean
  )");
}

// C++20 dropped the releasing thread's own relaxed stores from the release sequence.
TEST(RaceTable, AStoreEndsTheReleaseSequence) {
  expect_table("race", R"(
    T1            | T2
    w(y)          |
    aw(x,release) |
    aw(x,relaxed) |
                  | ar(x,acquire)
                  | r(y)
    => data-race observed: T1 w(y), T2 r(y)
  )");
}

TEST(RaceTable, FailedCompareExchangeIsALoad) {
  expect_table("race", R"(
    T1            | T2
    w(y)          |
    aw(x,release) |
                  | acasfail(x,acquire)
                  | r(y)
    => clean
  )");
}

// The publication that TSan, Helgrind and DRD report falsely.
TEST(RaceTable, FencesPublishThroughRelaxedAtomics) {
  expect_table("race", R"(
    T1             | T2
    w(y)           |
    fence(release) |
    aw(x,relaxed)  |
                   | ar(x,relaxed)
                   | fence(acquire)
                   | r(y)
    => clean
  )");
}

TEST(RaceTable, FullFenceIsBoth) {
  expect_table("race", R"(
    T1             | T2
    w(y)           |
    fence          |
    aw(x,relaxed)  |
                   | ar(x,relaxed)
                   | fence
                   | r(y)
    => clean
  )");
}

TEST(RaceTable, AccessBetweenFenceAndStoreIsNotPublished) {
  expect_table("race", R"(
    T1             | T2
    fence(release) |
    w(y)           |
    aw(x,relaxed)  |
                   | ar(x,acquire)
                   | r(y)
    => data-race observed: T1 w(y), T2 r(y)
  )");
}

TEST(RaceTable, TwoFencesAloneOrderNothing) {
  expect_table("race", R"(
    T1    | T2
    w(y)  |
    fence |
          | fence
          | r(y)
    => data-race observed: T1 w(y), T2 r(y)
  )");
}

// google/sanitizers#1645: two atomic operations that should be one. No race; a later checker's task.
TEST(RaceTable, CheckThenActOnAtomicsIsNoRace) {
  expect_table("race", R"(
    T1            | T2
    ar(n,seq_cst) |
                  | ar(n,seq_cst)
    aw(n,seq_cst) |
                  | aw(n,seq_cst)
    => clean
  )");
}

TEST(RaceTable, CheckThenActUnderALockIsNoRace) {
  expect_table("race", R"(
    T1     | T2
    acq(m) |
    r(x)   |
    rel(m) |
           | acq(m)
           | w(x)
           | rel(m)
    acq(m) |
    w(x)   |
    rel(m) |
    => clean
  )");
}

// ---- past the first race of a variable
// ---------------------------------------------------------------------------

// The second read of T1 is in the same epoch as its first, but T2's write lies between.
TEST(RaceTable, ARepeatedReadAfterARaceIsReportedToo) {
  expect_table("race", R"(
    T1     | T2
    r(x)   |
           | w(x)
    r(x)   |
    => data-race observed: T1 r(x), T2 w(x)
    => data-race observed: T2 w(x), T1 r(x)
  )");
}

// T3 is ordered after T2's write, not after T1's: plain epochs would have forgotten T1.
TEST(RaceTable, AnOlderWriteStillRacesAfterARace) {
  expect_table("race", R"(
    T1     | T2     | T3
    w(x)   |        |
           | w(x)   |
           | acq(m) |
           | rel(m) |
           |        | acq(m)
           |        | r(x)
    => data-race observed: T1 w(x), T2 w(x)
    => data-race observed: T1 w(x), T3 r(x)
  )");
}

TEST(RaceTable, AWriteRacesWithEverySharedReader) {
  expect_table("race", R"(
    T1     | T2     | T3
    r(x)   |        |
           | r(x)   |
           |        | w(x)
    => data-race observed: T1 r(x), T3 w(x)
    => data-race observed: T2 r(x), T3 w(x)
  )");
}

TEST(RaceTable, SameSitesAreReportedOnceAndCounted) {
  std::string trace;
  for (int i = 0; i < 5; ++i) trace += "T1|w(x)|a.cpp:1\nT2|w(x)|a.cpp:2\n";
  const std::vector<Finding> findings = check_text("race", trace);
  ASSERT_EQ(findings.size(), 1u);  // T1 then T2, and T2 then T1, are one defect
  EXPECT_EQ(findings[0].count, 9u);
}

TEST(RaceTable, ArrayElementsOfOneSitePairAreOneFinding) {
  EXPECT_EQ(check_text("race", "T1|w(a[1])|f:1\nT2|w(a[1])|f:2\nT1|w(a[2])|f:1\nT2|w(a[2])|f:2\n").size(),
            1u);
  EXPECT_EQ(check_text("race", "T1|w(x)|f:1\nT2|w(x)|f:2\nT1|w(y)|f:1\nT2|w(y)|f:2\n").size(), 2u);
}

}  // namespace
}  // namespace heddle::test
