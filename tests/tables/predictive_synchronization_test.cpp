// reduction and blocks: what each kind of synchronization allows to come between, and what it does not.
#include <gtest/gtest.h>

#include "expect_predicted.h"

namespace heddle::test {
namespace {

TEST(PredictiveSynchronization, InitializationIsNotByLockOrder) {
  expect_predicted(R"(
    A        | B
    begin(a) |
    w(x)     |
    acq(m)   |
    rel(m)   |
    end      |
             | begin(b)
             | acq(m)
             | r(x)
             | r(x)
             | rel(m)
             | end
    blocks => predicted-atomicity-violation predicted [b]: B r(x), A w(x), B r(x)
    reduction => not-reducible potential [a]: A w(x), A acq(m), B r(x)
    reduction => not-reducible potential [b]: B r(x), B r(x), A w(x)
  )");
}

TEST(PredictiveSynchronization, ForkIsALeftMover) {
  expect_predicted(R"(
    A        | B
    begin(a) |
    w(x)     |
    fork(B)  |
    w(x)     |
    end      |
             | r(x)
    blocks => predicted-atomicity-violation predicted [a]: A w(x), B r(x), A w(x)
    reduction => not-reducible potential [a]: A fork(B), A w(x), B r(x)
  )");
}

// no serial schedule
TEST(PredictiveSynchronization, ForkAndJoinInside) {
  expect_predicted(R"(
    A        | B
    begin(a) |
    fork(B)  |
             | w(x)
    join(B)  |
    end      |
    r(x)     |
    blocks => predicted-atomicity-violation predicted [a]: A fork(B), B w(x), A join(B)
    reduction => not-reducible potential [a]: A fork(B), A join(B)
  )");
}

TEST(PredictiveSynchronization, ForkAndJoinOfAThreadThatSharesNothing) {
  expect_predicted(R"(
    A        | B
    begin(a) |
    fork(B)  |
             | w(x)
    join(B)  |
    end      |
    blocks => clean
    reduction => not-reducible potential [a]: A fork(B), A join(B)
  )");
}

TEST(PredictiveSynchronization, OrderedByForkAndJoin) {
  expect_predicted(R"(
    A        | B
    fork(B)  |
             | w(x)
    join(B)  |
    begin(a) |
    r(x)     |
    w(x)     |
    end      |
    r(x)     |
    blocks => clean
    reduction => clean
  )");
}

TEST(PredictiveSynchronization, TwoOperationsUnderOneLock) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    r(x)      |
    rel(l)    |
    acq(l)    |
    r(y)      |
    rel(l)    |
    end       |
              | acq(l)
              | w(x)
              | w(y)
              | rel(l)
    blocks => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T2 w(y), T1 r(y)
    reduction => not-reducible potential [t1]: T1 rel(l), T1 acq(l)
  )");
}

TEST(PredictiveSynchronization, ALockAroundBoth) {
  expect_predicted(R"(
    T1        | T2
    acq(l)    |
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    rel(l)    |
              | acq(l)
              | w(x)
              | rel(l)
    blocks => clean
    reduction => clean
  )");
}

TEST(PredictiveSynchronization, ReadersShareALock) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq_sh(l) |
    r(x)      |
    rel_sh(l) |
    acq_sh(l) |
    r(x)      |
    rel_sh(l) |
    end       |
              | acq_sh(l)
              | r(x)
              | rel_sh(l)
    blocks => clean
    reduction => not-reducible potential [t1]: T1 rel_sh(l), T1 acq_sh(l)
  )");
}

TEST(PredictiveSynchronization, AWriterBetweenReaders) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq_sh(l) |
    r(x)      |
    rel_sh(l) |
    acq_sh(l) |
    r(x)      |
    rel_sh(l) |
    end       |
              | acq(l)
              | w(x)
              | rel(l)
    blocks => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 r(x)
    reduction => not-reducible potential [t1]: T1 rel_sh(l), T1 acq_sh(l)
  )");
}

TEST(PredictiveSynchronization, AReadModifyWriteIsOne) {
  expect_predicted(R"(
    T1              | T2
    begin(t1)       |
    armw(x,relaxed) |
    end             |
                    | begin(t2)
                    | armw(x,relaxed)
                    | end
    blocks => clean
    reduction => clean
  )");
}

TEST(PredictiveSynchronization, LoadAndStoreAreTwo) {
  expect_predicted(R"(
    T1            | T2
    begin(t1)     |
    ar(x,seq_cst) |
    aw(x,seq_cst) |
    end           |
                  | armw(x,relaxed)
    blocks => predicted-atomicity-violation predicted [t1]: T1 ar(x,seq_cst), T2 armw(x,relaxed), T1 aw(x,seq_cst)
    reduction => not-reducible potential [t1]: T1 ar(x,seq_cst), T1 aw(x,seq_cst), T2 armw(x,relaxed)
  )");
}

TEST(PredictiveSynchronization, ABarrierSeparates) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    arrive(b) |
              | arrive(b)
              | leave(b)
              | w(x)
    leave(b)  |
    blocks => clean
    reduction => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(PredictiveSynchronization, ASemaphoreHandsOver) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    post(s)   |
              | wait(s)
              | w(x)
    blocks => clean
    reduction => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(PredictiveSynchronization, AnotherLifeIsAnotherVariable) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    free(x)   |
              | alloc(x)
              | w(x)
    blocks => clean
    reduction => clean
  )");
}

TEST(PredictiveSynchronization, ABlockThatNeverEnds) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
              | w(x)
    blocks => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 w(x)
    reduction => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(PredictiveSynchronization, ALockNeverGivenBack) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    r(x)      |
    w(x)      |
    end       |
              | w(x)
    blocks => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 w(x)
    reduction => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(PredictiveSynchronization, InitializationIsDoneAlone) {
  expect_predicted(R"(
    main         | T1
    begin(setup) |
    w(x)         |
    w(x)         |
    end          |
    fork(T1)     |
                 | r(x)
    r(x)         |
    blocks => clean
    reduction => clean
  )");
}

// Locks that do not nest: the next one is taken before the last is given back.
TEST(PredictiveSynchronization, HandOverHand) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l1)   |
    w(x)      |
    acq(l2)   |
    rel(l1)   |
    w(y)      |
    rel(l2)   |
    end       |
              | begin(t2)
              | acq(l1)
              | r(x)
              | acq(l2)
              | rel(l1)
              | r(y)
              | rel(l2)
              | end
    blocks => clean
    reduction => clean
  )");
}

TEST(PredictiveSynchronization, HandOverHandWithAGap) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l1)   |
    w(x)      |
    rel(l1)   |
    acq(l2)   |
    w(y)      |
    rel(l2)   |
    end       |
              | begin(t2)
              | acq(l1)
              | r(x)
              | acq(l2)
              | rel(l1)
              | r(y)
              | rel(l2)
              | end
    blocks => predicted-atomicity-violation predicted [t1]: T1 w(x), T2 r(x), T2 r(y), T1 w(y)
    reduction => not-reducible potential [t1]: T1 rel(l1), T1 acq(l2)
  )");
}

TEST(PredictiveSynchronization, ALockOfOneThreadOnly) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(own)  |
    rel(own)  |
    acq(own)  |
    r(x)      |
    rel(own)  |
    end       |
              | r(x)
    blocks => clean
    reduction => clean
  )");
}

}  // namespace
}  // namespace heddle::test
