// Which orders of taking locks are a cycle, and what keeps one from closing: gates, readers, tries,
// recursion.
#include <gtest/gtest.h>

#include "support/table.h"

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

// As try_lock() does.
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

// std::lock(b, c) with a held gives b back to wait for c, and keeps a.
TEST(Deadlock, WhoTakesTogetherWaitsWithWhatItHeldBefore) {
  expect_table("deadlock", R"(
    T1              | T2
    acq(a)          |
    acq(b)          |
    acq(c,together) |
    rel(b)          |
    rel(c)          |
    rel(a)          |
                    | acq(c)
                    | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(c,together), T2 acq(c), T2 acq(a)
  )");
}

TEST(Deadlock, WhatIsTakenTogetherIsNotHeldWhileWaiting) {
  expect_table("deadlock", R"(
    T1              | T2
    acq(d)          |
    acq(a)          |
    acq(b,together) |
    acq(c,together) |
    rel(c)          |
    rel(b)          |
    rel(a)          |
    rel(d)          |
                    | acq(c)
                    | acq(b)
                    | acq(a)
    => clean
  )");
}

TEST(Deadlock, WhatWasTakenTogetherIsHeldAfterIt) {
  expect_table("deadlock", R"(
    T1              | T2
    acq(a)          |
    acq(b,together) |
    acq(c)          |
    rel(c)          |
    rel(b)          |
    rel(a)          |
                    | acq(c)
                    | acq(b)
    => lock-order-cycle predicted: T1 acq(b,together), T1 acq(c), T2 acq(c), T2 acq(b)
  )");
}

// Neither gets one of them while the other has the other, so no schedule comes to this.
TEST(Deadlock, WhatWasTakenTogetherAndGivenBackMustHaveBeenFree) {
  expect_table("deadlock", R"(
    T1              | T2
    acq(a)          |
    acq(b,together) |
    rel(b)          |
    acq(b)          |
    rel(b)          |
    rel(a)          |
                    | acq(b)
                    | acq(a,together)
                    | rel(a)
                    | acq(a)
    => lock-order-cycle potential: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
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

}  // namespace
}  // namespace heddle::test
