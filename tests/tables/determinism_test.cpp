// determinism, rule by rule: conflict freedom (S0 Fig. 4, corrected) and external serializability (Fig. 5) of
// transactions with several threads. Every table is judged by both engines, with and without the race filter;
// the findings are the graph engine's.
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

void expect_determinism(std::string_view text) { expect_table_by_every_engine("determinism", text); }

// The idioms of S0 Fig. 1 and 2

TEST(DeterminismTable, QuicksortUnderALock) {
  expect_determinism(R"(
    main                           | T1     | T2     | other
    begin(quicksort,deterministic) |        |        |
    acq(array)                     |        |        |
    r(a)                           |        |        |
    w(a)                           |        |        |
    w(b)                           |        |        |
    fork(T1)                       |        |        |
    fork(T2)                       |        |        |
                                   | r(a)   |        |
                                   |        | r(b)   |
                                   |        | w(b)   |
                                   | w(a)   |        |
    join(T1)                       |        |        |
    join(T2)                       |        |        |
    r(a)                           |        |        |
    rel(array)                     |        |        |
                                   |        |        | acq(array)
                                   |        |        | w(a)
                                   |        |        | rel(array)
    end                            |        |        |
    => clean
  )");
}

TEST(DeterminismTable, BarrierPhases) {
  expect_determinism(R"(
    main                      | T1
    begin(main,deterministic) |
    fork(T1)                  |
    r(a)                      |
                              | r(b)
                              | r(a)
    arrive(b)                 |
                              | arrive(b)
                              | leave(b)
                              | w(b)
    leave(b)                  |
    w(a)                      |
    arrive(b)                 |
                              | arrive(b)
    leave(b)                  |
                              | leave(b)
    r(b)                      |
                              | r(a)
    join(T1)                  |
    end                       |
    => clean
  )");
}

TEST(DeterminismTable, ABarrierLeftOut) {
  expect_determinism(R"(
    main                      | T1
    begin(main,deterministic) |
    fork(T1)                  |
                              | r(a)
    arrive(b)                 |
                              | arrive(b)
    leave(b)                  |
    w(a)                      |
                              | leave(b)
                              | r(a)
    join(T1)                  |
    end                       |
    => determinism-conflict observed [main]: main w(a), T1 r(a)
  )");
}

// The assignment of tasks to workers is not deterministic, the tasks are.
TEST(DeterminismTable, ThreadPoolWithDeterministicTasks) {
  expect_determinism(R"(
    main      | W1                         | H1    | W2
    fork(W1)  |                            |       |
    fork(W2)  |                            |       |
    acq(q)    |                            |       |
    w(task)   |                            |       |
    rel(q)    |                            |       |
    post(s)   |                            |       |
              | wait(s)                    |       |
              | acq(q)                     |       |
              | r(task)                    |       |
              | rel(q)                     |       |
              | begin(task,deterministic)  |       |
              | fork(H1)                   |       |
              |                            | w(x)  |
              | w(y)                       |       |
    acq(q)    |                            |       |
    w(task)   |                            |       |
    rel(q)    |                            |       |
    post(s)   |                            |       |
              |                            |       | wait(s)
              |                            |       | acq(q)
              |                            |       | r(task)
              |                            |       | rel(q)
              | join(H1)                   |       |
              | end                        |       |
    join(W1)  |                            |       |
    join(W2)  |                            |       |
    => clean
  )");
}

// Special cases the paper names

TEST(DeterminismTable, WithMainDeterministicThereIsNobodyToInterfere) {
  expect_determinism(R"(
    main                      | T1    | T2
    begin(main,deterministic) |       |
    fork(T1)                  |       |
    fork(T2)                  |       |
                              | w(x)  |
    join(T1)                  |       |
    r(x)                      |       |
                              |       | w(y)
    join(T2)                  |       |
    r(y)                      |       |
    end                       |       |
    => clean
  )");
}

TEST(DeterminismTable, WithoutForksItIsAtomicity) {
  constexpr std::string_view kTable = R"(
    T1                     | T2
    begin(f,deterministic) |
    r(x)                   |
                           | w(x)
    w(x)                   |
    end                    |
    => determinism-interference observed [f]: T1 r(x), T2 w(x), T1 w(x)
  )";
  expect_determinism(kTable);
  expect_table("atomicity", kTable);
}

// [CF READ], [CF WRITE]

TEST(DeterminismTable, TwoWritersInOneBlock) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
                           | w(x)
    w(x)                   |
    => determinism-conflict observed [f]: T1 w(x), main w(x)
  )");
}

TEST(DeterminismTable, AReaderAndAWriter) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
                           | r(x)
    w(x)                   |
    => determinism-conflict observed [f]: T1 r(x), main w(x)
  )");
}

TEST(DeterminismTable, AtomicsCountAsVariables) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
                           | armw(x,seq_cst)
    armw(x,seq_cst)        |
    => determinism-conflict observed [f]: T1 armw(x,seq_cst), main armw(x,seq_cst)
  )");
}

TEST(DeterminismTable, OutsideABlockThreadsMayConflict) {
  expect_determinism(R"(
    main                   | T1
    fork(T1)               |
    begin(f,deterministic) |
                           | w(x)
    w(x)                   |
    end                    |
    => clean
  )");
}

// [CF ACQUIRE], [CF RELEASE]: a mutex orders nothing, it only keeps apart.

TEST(DeterminismTable, TwoThreadsOfABlockTakeOneLock) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
                           | acq(m)
                           | rel(m)
    acq(m)                 |
    rel(m)                 |
    => determinism-conflict observed [f]: T1 rel(m), main acq(m)
  )");
}

TEST(DeterminismTable, WhatTheLockGuardsIsNamedInstead) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
                           | acq(m)
                           | w(x)
                           | rel(m)
    acq(m)                 |
    w(x)                   |
    rel(m)                 |
    => determinism-conflict observed [f]: T1 w(x), main w(x)
  )");
}

TEST(DeterminismTable, ALockHeldAcrossTheForkAndTakenByTheChild) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    acq(m)                 |
    fork(T1)               |
    rel(m)                 |
                           | acq(m)
                           | rel(m)
    join(T1)               |
    end                    |
    => determinism-conflict observed [f]: main rel(m), T1 acq(m)
  )");
}

TEST(DeterminismTable, ALockGivenBackBeforeTheFork) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    acq(m)                 |
    rel(m)                 |
    fork(T1)               |
                           | acq(m)
                           | rel(m)
    join(T1)               |
    acq(m)                 |
    rel(m)                 |
    end                    |
    => clean
  )");
}

TEST(DeterminismTable, ReadersOfALockDoNotConflict) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
                           | acq_sh(m)
    acq_sh(m)              |
    rel_sh(m)              |
                           | rel_sh(m)
    join(T1)               |
    end                    |
    => clean
  )");
}

// Semaphores

TEST(DeterminismTable, ASemaphoreHandsOver) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
    w(x)                   |
    post(s)                |
                           | wait(s)
                           | r(x)
    join(T1)               |
    end                    |
    => clean
  )");
}

TEST(DeterminismTable, PostsCommute) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
                           | post(s)
    post(s)                |
    wait(s)                |
    join(T1)               |
    end                    |
    => clean
  )");
}

TEST(DeterminismTable, TwoWaitsCompete) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    post(s)                |
    post(s)                |
    fork(T1)               |
                           | wait(s)
    wait(s)                |
    => determinism-conflict observed [f]: T1 wait(s), main wait(s)
  )");
}

// [CF BEGIN] must not reset the clock: the two counterexamples of ALGORITHMS §3.

TEST(DeterminismTable, TheClockIsNotResetAtBegin) {
  expect_determinism(R"(
    v                      | a | u    | t
    fork(a)                |   |      |
    fork(u)                |   |      |
                           |   | r(z) |
    begin(f,deterministic) |   |      |
    fork(t)                |   |      |
    w(x)                   |   |      |
                           |   |      | join(u)
                           |   |      | w(x)
    => determinism-conflict observed [f]: v w(x), t w(x)
  )");
}

// With the reset the read would be a conflict. It is none: a has joined m. That m's second, empty block lies
// between the first and a's join is another matter, and a violation.
TEST(DeterminismTable, NorDoesASecondBlockForgetTheFirst) {
  expect_determinism(R"(
    m                      | a
    begin(f,deterministic) |
    fork(a)                |
    w(y)                   |
    end                    |
                           | join(m)
                           | r(y)
    => clean
  )");
  expect_determinism(R"(
    m                      | a
    begin(f,deterministic) |
    fork(a)                |
    w(y)                   |
    end                    |
    begin(g,deterministic) |
    end                    |
                           | join(m)
                           | r(y)
    => determinism-interference observed [f]: m end, a join(m)
  )");
}

// [XS FORK IN]: forked threads belong to the transaction, to their end.

TEST(DeterminismTable, SomebodyOutsideInTheMiddleOfABlock) {
  expect_determinism(R"(
    main                   | T1   | T2   | other
    begin(f,deterministic) |      |      |
    fork(T1)               |      |      |
    fork(T2)               |      |      |
                           | w(x) |      |
                           |      |      | r(x)
                           |      |      | w(y)
                           |      | r(y) |
    join(T1)               |      |      |
    join(T2)               |      |      |
    end                    |      |      |
    => determinism-interference observed [f]: T1 w(x), other r(x), other w(y), T2 r(y)
  )");
}

TEST(DeterminismTable, ThreadsThatOutliveTheirBlockAreStillPartOfIt) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
    end                    |
    w(x)                   |
                           | r(x)
    => determinism-interference observed [f]: main w(x), T1 r(x)
  )");
}

TEST(DeterminismTable, ABlockWhoseThreadsWereJoinedIsOver) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    fork(T1)               |
                           | w(x)
    join(T1)               |
    end                    |
    w(x)                   |
    r(x)                   |
    => clean
  )");
}

TEST(DeterminismTable, ABarrierBetweenTwoTransactions) {
  expect_determinism(R"(
    T1                     | T2
    begin(f,deterministic) | begin(g,deterministic)
    arrive(b)              |
                           | arrive(b)
    leave(b)               |
                           | leave(b)
    end                    | end
    => determinism-interference observed: T2 arrive(b), T1 leave(b), T1 arrive(b), T2 leave(b)
  )");
}

// Nested and mixed blocks

TEST(DeterminismTable, NestedBlocksAreViolatedTogether) {
  expect_determinism(R"(
    main                       | T1
    begin(outer,deterministic) |
    begin(inner,deterministic) |
    fork(T1)                   |
                               | w(x)
    w(x)                       |
    => determinism-conflict observed [inner, outer]: T1 w(x), main w(x)
  )");
}

TEST(DeterminismTable, ANestedBlockIsViolatedOnlyIfItContainsBoth) {
  expect_determinism(R"(
    main                       | T1
    begin(outer,deterministic) |
    fork(T1)                   |
    begin(inner,deterministic) |
                               | w(x)
    w(x)                       |
    => determinism-conflict observed [outer]: T1 w(x), main w(x)
  )");
}

TEST(DeterminismTable, ADeterministicBlockInsideAnAtomicOneAdoptsNobody) {
  expect_determinism(R"(
    main                   | T1
    begin(f,atomic)        |
    begin(g,deterministic) |
    fork(T1)               |
                           | w(x)
    join(T1)               |
    end                    |
    end                    |
    => atomicity-violation observed [g, f]: main fork(T1), T1 w(x), main join(T1)
  )");
}

TEST(DeterminismTable, AnAtomicBlockInsideADeterministicOneIsPartOfIt) {
  expect_determinism(R"(
    main                   | T1
    begin(f,deterministic) |
    begin(g,atomic)        |
    fork(T1)               |
                           | w(x)
    join(T1)               |
    end                    |
    end                    |
    => clean
  )");
}

TEST(DeterminismTable, AThreadForkedByAForkedThreadIsAdopted) {
  expect_determinism(R"(
    main                   | T1       | T2
    begin(f,deterministic) |          |
    fork(T1)               |          |
                           | fork(T2) |
                           |          | w(x)
    w(x)                   |          |
    => determinism-conflict observed [f]: T2 w(x), main w(x)
  )");
}

TEST(DeterminismTable, TheSameVariableInTwoBlocksAtATime) {
  expect_determinism(R"(
    A                      | B                      | C    | D
    begin(f,deterministic) | begin(g,deterministic) |      |
    fork(C)                |                        |      |
                           | fork(D)                |      |
                           |                        | r(x) |
                           |                        |      | r(x)
    join(C)                |                        |      |
                           | join(D)                |      |
    end                    | end                    |      |
    => clean
  )");
}

}  // namespace
}  // namespace heddle::test
