// What orders the acquisitions of a cycle, and whether the cycle is certain (predicted) or not (potential).
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

TEST(DeadlockOrder, ForkOrders) {
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

TEST(DeadlockOrder, JoinOrders) {
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
TEST(DeadlockOrder, JoinThenForkOrdersTheChildren) {
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

TEST(DeadlockOrder, ForkedSiblingsAreConcurrent) {
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

TEST(DeadlockOrder, BarrierOrders) {
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

TEST(DeadlockOrder, SamePhaseIsConcurrent) {
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

TEST(DeadlockOrder, SemaphoreOrders) {
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
// A future, or what is done once: who waits for it goes on only after it is there.
TEST(DeadlockOrder, HandOverOrders) {
  expect_table("deadlock", R"(
    T1              | T2
    acq(a)          |
    acq(b)          |
    rel(b)          |
    rel(a)          |
    sync(s,release) |
                    | sync(s,acquire)
                    | acq(b)
                    | acq(a)
    => clean
  )");
}

// Those who wait for the same come in any order among themselves.
TEST(DeadlockOrder, WhoWaitsOrdersNobody) {
  expect_table("deadlock", R"(
    T0              | T1              | T2
    sync(s,release) |                 |
                    | acq(a)          |
                    | acq(b)          |
                    | rel(b)          |
                    | rel(a)          |
                    | sync(s,acquire) |
                    |                 | sync(s,acquire)
                    |                 | acq(b)
                    |                 | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

// Reference counts and their like: in another schedule the other thread comes first.
TEST(DeadlockOrder, OtherSynchronizationDoesNotOrder) {
  expect_table("deadlock", R"(
    T1      | T2
    acq(a)  |
    acq(b)  |
    rel(b)  |
    rel(a)  |
    sync(s) |
            | sync(s)
            | acq(b)
            | acq(a)
    => lock-order-cycle predicted: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

TEST(DeadlockOrder, HandOverWhileHoldingIsPotential) {
  expect_table("deadlock", R"(
    T1              | T2
    acq(a)          |
    sync(s,acquire) |
    acq(b)          |
    rel(b)          |
    rel(a)          |
                    | acq(b)
                    | acq(a)
    => lock-order-cycle potential: T1 acq(a), T1 acq(b), T2 acq(b), T2 acq(a)
  )");
}

TEST(DeadlockOrder, NotifyAndAtomicsDoNotOrder) {
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

// A list walked hand over hand from both ends. This one can deadlock, but the cycle alone does not show it.
TEST(DeadlockOrder, HandOverHandIsPotential) {
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
TEST(DeadlockOrder, HandOverHandCycleThatNoScheduleReaches) {
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

TEST(DeadlockOrder, SynchronizationWhileHoldingIsPotential) {
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
TEST(DeadlockOrder, ForkedInsideACriticalSectionAndJoinedAfterItIsPredicted) {
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
TEST(DeadlockOrder, TheLatestThatIsKnownOfAThreadDecides) {
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
TEST(DeadlockOrder, ForkedInsideACriticalSectionIsPotential) {
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

}  // namespace
}  // namespace heddle::test
