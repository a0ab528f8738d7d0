// reduction and blocks: the examples of S1 that are about sets of transactions, and the corrections of
// ALGORITHMS §4.
#include <gtest/gtest.h>

#include "expect_predicted.h"

namespace heddle::test {
namespace {

// (1), (2)
TEST(PredictiveExamples, Example1ReadersMayComeBetween) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
              | begin(t2)
              | r(x)
              | end
    blocks => clean
    reduction => clean
    common lock => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 r(x)
  )");
}

// (3): the rectangle whose setX and setY are synchronized and whose setXY is not
TEST(PredictiveExamples, Example3RaceFreeAndNotAtomic) {
  expect_predicted(R"(
    T1           | T2
    begin(setXY) |
    acq(l)       |
    w(x)         |
    rel(l)       |
    acq(l)       |
    w(y)         |
    rel(l)       |
    end          |
                 | begin(setXY)
                 | acq(l)
                 | w(x)
                 | rel(l)
                 | acq(l)
                 | w(y)
                 | rel(l)
                 | end
    blocks => predicted-atomicity-violation predicted [setXY]: T1 w(x), T2 w(x), T2 w(y), T1 w(y)
    reduction => not-reducible potential [setXY]: T1 rel(l), T1 acq(l)
    reduction => not-reducible potential [setXY]: T2 rel(l), T2 acq(l)
  )");
}

// (4)
TEST(PredictiveExamples, Example4ViewInconsistentAndAtomic) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    r(x)      |
    r(y)      |
    rel(l)    |
    end       |
              | begin(t2)
              | acq(l)
              | r(x)
              | rel(l)
              | acq(l)
              | r(y)
              | rel(l)
              | end
    blocks => clean
    reduction => not-reducible potential [t2]: T2 rel(l), T2 acq(l)
  )");
}

// (5)
TEST(PredictiveExamples, Example5ViewConsistentAndNotAtomic) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    w(x)      |
    rel(l)    |
    end       |
              | begin(t2)
              | acq(l)
              | r(x)
              | rel(l)
              | acq(l)
              | w(x)
              | rel(l)
              | end
    blocks => predicted-atomicity-violation predicted [t2]: T2 r(x), T1 w(x), T2 w(x)
    reduction => not-reducible potential [t2]: T2 rel(l), T2 acq(l)
  )");
}

// (6)
TEST(PredictiveExamples, Example6PairwiseIsMorePrecise) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    w(x)      |
    rel(l)    |
    r(x)      |
    end       |
              | begin(t2)
              | acq(l)
              | r(x)
              | rel(l)
              | end
    blocks => clean
    reduction => clean
    common lock => not-reducible potential [t1]: T1 w(x), T1 r(x), T2 r(x)
  )");
}

// (7)
TEST(PredictiveExamples, Example7BlindWrites) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    w(x)      |
    w(x)      |
    end       |
              | begin(t2)
              | w(x)
              | end
    blocks => clean
    reduction => not-reducible potential [t1]: T1 w(x), T1 w(x), T2 w(x)
  )");
}

// (8)
TEST(PredictiveExamples, Example8OneNonMoverAfterALock) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    r(x)      |
    rel(l)    |
    w(y)      |
    end       |
              | begin(t2)
              | acq(l)
              | r(x)
              | rel(l)
              | w(y)
              | end
    blocks => clean
    reduction => not-reducible potential [t1]: T1 rel(l), T1 w(y), T2 w(y)
    reduction => not-reducible potential [t2]: T2 rel(l), T2 w(y), T1 w(y)
  )");
}

// (9)
TEST(PredictiveExamples, Example9TwoCriticalSections) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    w(x)      |
    r(x)      |
    rel(l)    |
    acq(l)    |
    w(x)      |
    rel(l)    |
    end       |
              | begin(t2)
              | acq(l)
              | w(x)
              | r(x)
              | rel(l)
              | acq(l)
              | w(x)
              | rel(l)
              | end
    blocks => clean
    reduction => not-reducible potential [t1]: T1 rel(l), T1 acq(l)
    reduction => not-reducible potential [t2]: T2 rel(l), T2 acq(l)
  )");
}

// (10): the locksets allow the write between the reads, the locks do not
TEST(PredictiveExamples, Example10OnlyADeadlockIsBetween) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l1)   |
    acq(l2)   |
    rel(l2)   |
    r(x)      |
    r(x)      |
    rel(l1)   |
    end       |
              | begin(t2)
              | acq(l2)
              | acq(l1)
              | rel(l1)
              | w(x)
              | rel(l2)
              | end
    blocks => lock-order-cycle predicted: T1 acq(l1), T1 acq(l2), T2 acq(l2), T2 acq(l1)
    reduction => not-reducible potential [t1]: T1 rel(l2), T1 r(x), T2 w(x)
    reduction => not-reducible potential [t2]: T2 rel(l1), T2 w(x), T1 r(x)
  )");
}

// (13): B1(b)
TEST(PredictiveExamples, Example13EndToEnd) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    r(x)      |
    w(x)      |
    rel(l)    |
    w(x)      |
    end       |
              | begin(t2)
              | acq(l)
              | w(x)
              | rel(l)
              | end
    blocks => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 w(x)
    reduction => not-reducible potential [t1]: T1 rel(l), T1 w(x), T2 w(x)
    common lock => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

// (15)
TEST(PredictiveExamples, Example15TheReadSeesItsOwnWrite) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    w(x)      |
    r(x)      |
    r(x)      |
    rel(l)    |
    end       |
              | begin(t2)
              | acq(l)
              | w(x)
              | rel(l)
              | acq(l)
              | w(x)
              | rel(l)
              | end
    blocks => clean
    reduction => not-reducible potential [t2]: T2 rel(l), T2 acq(l)
  )");
}

// (16): any two of them are atomic
TEST(PredictiveExamples, Example16ThreeTransactions) {
  expect_predicted(R"(
    T1        | T2        | T3
    begin(t1) |           |
    w(x)      |           |
    w(y)      |           |
    end       |           |
              | begin(t2) |
              | r(x)      |
              | w(z)      |
              | end       |
              |           | begin(t3)
              |           | r(z)
              |           | r(y)
              |           | end
    blocks => predicted-atomicity-violation predicted [t1]: T1 w(x), T2 r(x), T2 w(z), T3 r(z), T3 r(y), T1 w(y)
    blocks => predicted-atomicity-violation predicted [t2, t3]: T2 r(x), T1 w(x), T1 w(y), T3 r(y), T3 r(z), T2 w(z)
    reduction => not-reducible potential [t1]: T1 w(x), T1 w(y), T2 r(x), T3 r(y)
    reduction => not-reducible potential [t2]: T2 r(x), T2 w(z), T1 w(x), T3 r(z)
    reduction => not-reducible potential [t3]: T3 r(z), T3 r(y), T2 w(z), T1 w(y)
  )");
}

// (16) without its third
TEST(PredictiveExamples, Example16NeedsAllThree) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    w(x)      |
    w(y)      |
    end       |
              | begin(t2)
              | r(x)
              | w(z)
              | end
    blocks => clean
    reduction => clean
  )");
}

// ALGORITHMS §4: for the whole set alone Thm 5.3 is false
TEST(PredictiveExamples, ABlindLastWriteHidesNothing) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    w(x)      |
              | w(x)
    blocks => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 w(x)
    reduction => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(PredictiveExamples, ASubsetIsEnough) {
  expect_predicted(R"(
    T2   | T1
    w(y) |
    w(x) |
         | begin(t1)
         | w(y)
         | r(x)
         | end
         | w(y)
    blocks => predicted-atomicity-violation predicted [t1]: T1 w(y), T2 w(y), T2 w(x), T1 r(x)
    reduction => not-reducible potential [t1]: T1 w(y), T1 r(x), T2 w(y), T2 w(x)
  )");
}

// neither alone disturbs the block
TEST(PredictiveExamples, TwoOperationsOfOneThread) {
  expect_predicted(R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    r(y)      |
    end       |
              | w(x)
              | w(y)
    blocks => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T2 w(y), T1 r(y)
    reduction => not-reducible potential [t1]: T1 r(x), T1 r(y), T2 w(x), T2 w(y)
  )");
}

// S1 §6: next() looks at the count of modifications and takes the entry in two critical sections, remove()
// changes both in one. Here next() ran before remove(), and nothing went wrong.
TEST(PredictiveExamples, TheHashtableStory) {
  expect_predicted(R"(
    T1                       | T2
    begin(KeyIterator::next) |
    acq(table)               |
    r(modifications)         |
    rel(table)               |
    acq(table)               |
    r(entry)                 |
    w(entry)                 |
    rel(table)               |
    end                      |
                             | begin(Hashtable::remove)
                             | acq(table)
                             | w(entry)
                             | w(modifications)
                             | rel(table)
                             | end
    blocks => predicted-atomicity-violation predicted [KeyIterator::next]: T1 r(modifications), T2 w(modifications), T2 w(entry), T1 w(entry)
    reduction => not-reducible potential [KeyIterator::next]: T1 rel(table), T1 acq(table)
  )");
}

// The same in one critical section.
TEST(PredictiveExamples, TheHashtableStoryMended) {
  expect_predicted(R"(
    T1                       | T2
    begin(KeyIterator::next) |
    acq(table)               |
    r(modifications)         |
    r(entry)                 |
    w(entry)                 |
    rel(table)               |
    end                      |
                             | begin(Hashtable::remove)
                             | acq(table)
                             | w(entry)
                             | w(modifications)
                             | rel(table)
                             | end
    blocks => clean
    reduction => clean
  )");
}

}  // namespace
}  // namespace heddle::test
