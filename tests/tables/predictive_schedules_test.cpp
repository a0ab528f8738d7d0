// reduction and blocks: which orders of a run can be come to, and how they are searched for.
#include <gtest/gtest.h>

#include "expect_predicted.h"

namespace heddle::test {
namespace {

// Found by the law: neither block accesses anything, and each needs a part of the other.
TEST(PredictiveSchedules, BlocksThatWaitForEachOther) {
  expect_predicted(R"(
    A        | B
    begin(a) |
    post(s)  |
             | begin(b)
             | wait(s)
             | post(t)
             | end
    wait(t)  |
    end      |
    blocks => predicted-atomicity-violation predicted [a]: A post(s), B post(t), A wait(t)
    reduction => not-reducible potential [a]: A post(s), A wait(t)
  )");
}

// Serial orders are judged by values (docs/design/predictive.md); `atomicity` observes this one.
TEST(PredictiveSchedules, ALockKeptBetweenTwoReads) {
  const std::string rows = R"(
    T1     | T2
    acq(m) |
    r(x)   |
           | begin(b)
           | w(x)
    r(x)   |
    rel(m) |
           | acq(m)
           | rel(m)
           | end
  )";
  expect_table("blocks", rows + "=> clean\n");
  expect_table("atomicity",
               rows + "=> atomicity-violation observed [b]: T2 w(x), T1 r(x), T1 rel(m), T2 acq(m)\n");
}

// Only neighbours in a cycle conflict, so that equal operations of many threads cost no more than their
// pairs.
TEST(PredictiveSchedules, EqualOperationsOfManyThreads) {
  std::string trace = "main|begin(a)|\nmain|r(x)|\nmain|r(y)|\nmain|end|\n";
  for (int i = 0; i < 40; ++i) trace += "W" + std::to_string(i) + "|w(x)|\n";
  for (int i = 0; i < 40; ++i) trace += "V" + std::to_string(i) + "|w(y)|\n";
  EXPECT_TRUE(check_text("blocks", trace, {.budget = 10'000}).empty());
}

// What a thread did outside of all transactions decides whether a run can come to a schedule of them.
TEST(PredictiveSchedules, StartedUnderALockThatItTakesFirst) {
  expect_predicted(R"(
    T1       | T2
    begin(b) |
    acq(m)   |
    fork(T2) |
    r(x)     |
    r(x)     |
    rel(m)   |
    end      |
             | acq(m)
             | rel(m)
             | w(x)
    blocks => predicted-atomicity-violation potential [b]: T1 r(x), T2 w(x), T1 r(x)
    reduction => not-reducible potential [b]: T1 fork(T2), T1 r(x), T2 w(x)
  )");
}
TEST(PredictiveSchedules, StartedUnderALockThatItTakesLater) {
  expect_predicted(R"(
    T1       | T2
    begin(b) |
    acq(m)   |
    fork(T2) |
    r(x)     |
    r(x)     |
    rel(m)   |
    end      |
             | w(x)
             | acq(m)
             | rel(m)
    blocks => predicted-atomicity-violation predicted [b]: T1 r(x), T2 w(x), T1 r(x)
    reduction => not-reducible potential [b]: T1 fork(T2), T1 r(x), T2 w(x)
  )");
}
// The poster is inside a critical section, and the run has to take it out of it.
TEST(PredictiveSchedules, WokenFromACriticalSection) {
  expect_predicted(R"(
    T1       | T2      | T3
    begin(b) |         |
    acq(m)   |         |
    r(x)     |         |
    rel(m)   |         |
    acq(m)   |         |
    r(x)     |         |
    rel(m)   |         |
    end      |         |
             | acq(m)  |
             | post(s) |
             |         | wait(s)
             | rel(m)  |
             |         | acq(m)
             |         | w(x)
             |         | rel(m)
    blocks => predicted-atomicity-violation predicted [b]: T1 r(x), T3 w(x), T1 r(x)
    reduction => not-reducible potential [b]: T1 rel(m), T1 acq(m)
  )");
}

// The first write of T2 comes too late, another one does not.
TEST(PredictiveSchedules, AnotherTransactionOfTheThreadWillDo) {
  expect_predicted(R"(
    T1       | T2
    begin(b) |
    acq(m)   |
    fork(T2) |
    r(x)     |
    r(x)     |
    rel(m)   |
    r(x)     |
    end      |
             | acq(m)
             | rel(m)
             | w(x)
    blocks => predicted-atomicity-violation predicted [b]: T1 r(x), T2 w(x), T1 r(x)
    reduction => not-reducible potential [b]: T1 fork(T2), T1 r(x), T2 w(x)
  )");
}

// That A's block is cut by B's does not clear B's, which A's and C's accesses cut.
TEST(PredictiveSchedules, ABlockThatCutsAnotherCanBeCutItself) {
  expect_predicted(R"(
    A        | B        | C
    begin(P) |          |
    r(x)     |          |
    r(x)     |          |
    end      |          |
             | begin(Q) |
             | r(y)     |
             | w(x)     |
             | end      |
             |          | w(y)
             |          | r(x)
    blocks => predicted-atomicity-violation predicted [P]: A r(x), B w(x), A r(x)
    blocks => predicted-atomicity-violation predicted [Q]: B r(y), C w(y), C r(x), B w(x)
    reduction => not-reducible potential [P]: A r(x), A r(x), B w(x)
    reduction => not-reducible potential [Q]: B r(y), B w(x), C w(y), A r(x)
  )");
}

// Two cut blocks, one cycle: one finding.
TEST(PredictiveSchedules, AnotherThreadsBlockIsNoExcuse) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    w(x)      |
    w(y)      |
    end       |
              | begin(t2)
              | w(y)
              | w(x)
              | end
    blocks => predicted-atomicity-violation predicted [t1, t2]: T1 w(x), T2 w(x), T2 w(y), T1 w(y)
    reduction => not-reducible potential [t1]: T1 w(x), T1 w(y), T2 w(x), T2 w(y)
    reduction => not-reducible potential [t2]: T2 w(y), T2 w(x), T1 w(y), T1 w(x)
  )");
}

}  // namespace
}  // namespace heddle::test
