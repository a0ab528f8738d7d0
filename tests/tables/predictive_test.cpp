// reduction and blocks, example by example: all of S1 that is about sets of transactions, the corrections of
// ALGORITHMS §4, and what each kind of synchronization allows. Transactions run one after the other in these
// tables unless they say otherwise: what is reported is predicted. Where reduction reports and blocks does
// not, the block is atomic all the same.
#include <gtest/gtest.h>

#include "base/text.h"
#include "support/table.h"

namespace heddle::test {
namespace {

// A table with what each of the two reports: lines "blocks => …", "reduction => …" and, where the coarser
// test of race freedom says something else, "common lock => …".
void expect_predicted(std::string_view text) {
  std::string rows;
  std::string blocks;
  std::string reduction;
  std::string common_lock;
  for (const std::string_view line : split(text, "\n")) {
    const std::size_t arrow = line.find("=>");
    const auto is_for = [&](std::string_view name) {
      return arrow != std::string_view::npos && line.find(name) < arrow;
    };
    std::string& to = is_for("blocks")        ? blocks
                      : is_for("reduction")   ? reduction
                      : is_for("common lock") ? common_lock
                                              : rows;
    to += std::string(arrow == std::string_view::npos ? line : line.substr(arrow)) + "\n";
  }
  expect_table("blocks", rows + blocks);
  expect_table("reduction", rows + reduction);
  expect_table("reduction", rows + (common_lock.empty() ? reduction : common_lock),
               {.race_freedom = RaceFreedom::kCommonLock});
}

// (1), (2)
TEST(PredictiveTable, Example1ReadersMayComeBetween) {
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
TEST(PredictiveTable, Example3RaceFreeAndNotAtomic) {
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
TEST(PredictiveTable, Example4ViewInconsistentAndAtomic) {
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
TEST(PredictiveTable, Example5ViewConsistentAndNotAtomic) {
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
TEST(PredictiveTable, Example6PairwiseIsMorePrecise) {
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
TEST(PredictiveTable, Example7BlindWrites) {
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
TEST(PredictiveTable, Example8OneNonMoverAfterALock) {
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
TEST(PredictiveTable, Example9TwoCriticalSections) {
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
TEST(PredictiveTable, Example10OnlyADeadlockIsBetween) {
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
TEST(PredictiveTable, Example13EndToEnd) {
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
TEST(PredictiveTable, Example15TheReadSeesItsOwnWrite) {
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
TEST(PredictiveTable, Example16ThreeTransactions) {
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
TEST(PredictiveTable, Example16NeedsAllThree) {
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
TEST(PredictiveTable, ABlindLastWriteHidesNothing) {
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

TEST(PredictiveTable, ASubsetIsEnough) {
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

TEST(PredictiveTable, InitializationIsNotByLockOrder) {
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

TEST(PredictiveTable, ForkIsALeftMover) {
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
TEST(PredictiveTable, ForkAndJoinInside) {
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

TEST(PredictiveTable, ForkAndJoinOfAThreadThatSharesNothing) {
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

TEST(PredictiveTable, OrderedByForkAndJoin) {
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

// neither alone disturbs the block
TEST(PredictiveTable, TwoOperationsOfOneThread) {
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

TEST(PredictiveTable, TwoOperationsUnderOneLock) {
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

TEST(PredictiveTable, ALockAroundBoth) {
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

TEST(PredictiveTable, ReadersShareALock) {
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

TEST(PredictiveTable, AWriterBetweenReaders) {
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

TEST(PredictiveTable, AReadModifyWriteIsOne) {
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

TEST(PredictiveTable, LoadAndStoreAreTwo) {
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

TEST(PredictiveTable, ABarrierSeparates) {
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

TEST(PredictiveTable, ASemaphoreHandsOver) {
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

TEST(PredictiveTable, AnotherLifeIsAnotherVariable) {
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

TEST(PredictiveTable, ABlockThatNeverEnds) {
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

TEST(PredictiveTable, ALockNeverGivenBack) {
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

TEST(PredictiveTable, InitializationIsDoneAlone) {
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

// S1 §6: next() looks at the count of modifications and takes the entry in two critical sections, remove()
// changes both in one. Here next() ran before remove(), and nothing went wrong.
TEST(PredictiveTable, TheHashtableStory) {
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
TEST(PredictiveTable, TheHashtableStoryMended) {
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

// Two cut blocks, one cycle: one finding.
TEST(PredictiveTable, AnotherThreadsBlockIsNoExcuse) {
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

// Locks that do not nest: the next one is taken before the last is given back.
TEST(PredictiveTable, HandOverHand) {
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

TEST(PredictiveTable, HandOverHandWithAGap) {
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

TEST(PredictiveTable, ALockOfOneThreadOnly) {
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

// Found by the law: neither block accesses anything, and each needs a part of the other.
TEST(PredictiveTable, BlocksThatWaitForEachOther) {
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
TEST(PredictiveTable, ALockKeptBetweenTwoReads) {
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
TEST(PredictiveTable, EqualOperationsOfManyThreads) {
  std::string trace = "main|begin(a)|\nmain|r(x)|\nmain|r(y)|\nmain|end|\n";
  for (int i = 0; i < 40; ++i) trace += "W" + std::to_string(i) + "|w(x)|\n";
  for (int i = 0; i < 40; ++i) trace += "V" + std::to_string(i) + "|w(y)|\n";
  EXPECT_TRUE(check_text("blocks", trace, {.budget = 10'000}).empty());
}

// What a thread did outside of all transactions decides whether a run can come to a schedule of them.
TEST(PredictiveTable, StartedUnderALockThatItTakesFirst) {
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
TEST(PredictiveTable, StartedUnderALockThatItTakesLater) {
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
TEST(PredictiveTable, WokenFromACriticalSection) {
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
TEST(PredictiveTable, AnotherTransactionOfTheThreadWillDo) {
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

}  // namespace
}  // namespace heddle::test
