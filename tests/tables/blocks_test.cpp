// blocks, example by example: all of S1 that is about sets of transactions, the corrections of ALGORITHMS §4,
// and what each kind of synchronization allows. Transactions run one after the other in these tables unless
// they say otherwise: what is reported is predicted.
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

// (1), (2)
TEST(BlocksTable, Example1ReadersMayComeBetween) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
              | begin(t2)
              | r(x)
              | end
    => clean
  )");
}

// (3): the rectangle whose setX and setY are synchronized and whose setXY is not
TEST(BlocksTable, Example3RaceFreeAndNotAtomic) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [setXY]: T2 w(x), T1 w(x), T1 w(y), T2 w(y)
  )");
}

// (4)
TEST(BlocksTable, Example4ViewInconsistentAndAtomic) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

// (5)
TEST(BlocksTable, Example5ViewConsistentAndNotAtomic) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [t2]: T2 r(x), T1 w(x), T2 w(x)
  )");
}

// (6)
TEST(BlocksTable, Example6PairwiseIsMorePrecise) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

// (7)
TEST(BlocksTable, Example7BlindWrites) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    w(x)      |
    w(x)      |
    end       |
              | begin(t2)
              | w(x)
              | end
    => clean
  )");
}

// (8)
TEST(BlocksTable, Example8OneNonMoverAfterALock) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

// (9)
TEST(BlocksTable, Example9TwoCriticalSections) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

// (10): the locksets allow the write between the reads, the locks do not
TEST(BlocksTable, Example10OnlyADeadlockIsBetween) {
  expect_table("blocks", R"(
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
    => lock-order-cycle predicted: T1 acq(l1), T1 acq(l2), T2 acq(l2), T2 acq(l1)
  )");
}

// (13): B1(b)
TEST(BlocksTable, Example13EndToEnd) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 w(x)
  )");
}

// (15)
TEST(BlocksTable, Example15TheReadSeesItsOwnWrite) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

// (16): any two of them are atomic
TEST(BlocksTable, Example16ThreeTransactions) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [t1]: T1 w(x), T2 r(x), T2 w(z), T3 r(z), T3 r(y), T1 w(y)
    => predicted-atomicity-violation predicted [t2, t3]: T2 r(x), T1 w(x), T1 w(y), T3 r(y), T3 r(z), T2 w(z)
  )");
}

// (16) without its third
TEST(BlocksTable, Example16NeedsAllThree) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    w(x)      |
    w(y)      |
    end       |
              | begin(t2)
              | r(x)
              | w(z)
              | end
    => clean
  )");
}

// ALGORITHMS §4: for the whole set alone Thm 5.3 is false
TEST(BlocksTable, ABlindLastWriteHidesNothing) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    w(x)      |
              | w(x)
    => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 w(x)
  )");
}

TEST(BlocksTable, ASubsetIsEnough) {
  expect_table("blocks", R"(
    T2   | T1
    w(y) |
    w(x) |
         | begin(t1)
         | w(y)
         | r(x)
         | end
         | w(y)
    => predicted-atomicity-violation predicted [t1]: T1 w(y), T2 w(y), T2 w(x), T1 r(x)
  )");
}

TEST(BlocksTable, InitializationIsNotByLockOrder) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [b]: B r(x), A w(x), B r(x)
  )");
}

TEST(BlocksTable, ForkIsALeftMover) {
  expect_table("blocks", R"(
    A        | B
    begin(a) |
    w(x)     |
    fork(B)  |
    w(x)     |
    end      |
             | r(x)
    => predicted-atomicity-violation predicted [a]: A w(x), B r(x), A w(x)
  )");
}

// no serial schedule
TEST(BlocksTable, ForkAndJoinInside) {
  expect_table("blocks", R"(
    A        | B
    begin(a) |
    fork(B)  |
             | w(x)
    join(B)  |
    end      |
    r(x)     |
    => predicted-atomicity-violation predicted [a]: A fork(B), B w(x), A join(B)
  )");
}

TEST(BlocksTable, ForkAndJoinOfAThreadThatSharesNothing) {
  expect_table("blocks", R"(
    A        | B
    begin(a) |
    fork(B)  |
             | w(x)
    join(B)  |
    end      |
    => clean
  )");
}

TEST(BlocksTable, OrderedByForkAndJoin) {
  expect_table("blocks", R"(
    A        | B
    fork(B)  |
             | w(x)
    join(B)  |
    begin(a) |
    r(x)     |
    w(x)     |
    end      |
    r(x)     |
    => clean
  )");
}

// neither alone disturbs the block
TEST(BlocksTable, TwoOperationsOfOneThread) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    r(y)      |
    end       |
              | w(x)
              | w(y)
    => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T2 w(y), T1 r(y)
  )");
}

TEST(BlocksTable, TwoOperationsUnderOneLock) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T2 w(y), T1 r(y)
  )");
}

TEST(BlocksTable, ALockAroundBoth) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

TEST(BlocksTable, ReadersShareALock) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

TEST(BlocksTable, AWriterBetweenReaders) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 r(x)
  )");
}

TEST(BlocksTable, AReadModifyWriteIsOne) {
  expect_table("blocks", R"(
    T1              | T2
    begin(t1)       |
    armw(x,relaxed) |
    end             |
                    | begin(t2)
                    | armw(x,relaxed)
                    | end
    => clean
  )");
}

TEST(BlocksTable, LoadAndStoreAreTwo) {
  expect_table("blocks", R"(
    T1            | T2
    begin(t1)     |
    ar(x,seq_cst) |
    aw(x,seq_cst) |
    end           |
                  | armw(x,relaxed)
    => predicted-atomicity-violation predicted [t1]: T1 ar(x,seq_cst), T2 armw(x,relaxed), T1 aw(x,seq_cst)
  )");
}

TEST(BlocksTable, ABarrierSeparates) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

TEST(BlocksTable, ASemaphoreHandsOver) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    post(s)   |
              | wait(s)
              | w(x)
    => clean
  )");
}

TEST(BlocksTable, AnotherLifeIsAnotherVariable) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    free(x)   |
              | alloc(x)
              | w(x)
    => clean
  )");
}

TEST(BlocksTable, ABlockThatNeverEnds) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
              | w(x)
    => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 w(x)
  )");
}

TEST(BlocksTable, ALockNeverGivenBack) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    r(x)      |
    w(x)      |
    end       |
              | w(x)
    => predicted-atomicity-violation predicted [t1]: T1 r(x), T2 w(x), T1 w(x)
  )");
}

TEST(BlocksTable, InitializationIsDoneAlone) {
  expect_table("blocks", R"(
    main         | T1
    begin(setup) |
    w(x)         |
    w(x)         |
    end          |
    fork(T1)     |
                 | r(x)
    r(x)         |
    => clean
  )");
}

// S1 §6: next() looks at the count of modifications and takes the entry in two critical sections, remove()
// changes both in one. Here next() ran before remove(), and nothing went wrong.
TEST(BlocksTable, TheHashtableStory) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [KeyIterator::next]: T1 r(modifications), T2 w(modifications), T2 w(entry), T1 w(entry)
  )");
}

// The same in one critical section.
TEST(BlocksTable, TheHashtableStoryMended) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

// Two cut blocks, one cycle: one finding.
TEST(BlocksTable, AnotherThreadsBlockIsNoExcuse) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    w(x)      |
    w(y)      |
    end       |
              | begin(t2)
              | w(y)
              | w(x)
              | end
    => predicted-atomicity-violation predicted [t1, t2]: T1 w(x), T2 w(x), T2 w(y), T1 w(y)
  )");
}

// Locks that do not nest: the next one is taken before the last is given back.
TEST(BlocksTable, HandOverHand) {
  expect_table("blocks", R"(
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
    => clean
  )");
}

TEST(BlocksTable, HandOverHandWithAGap) {
  expect_table("blocks", R"(
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
    => predicted-atomicity-violation predicted [t1]: T1 w(x), T2 r(x), T2 r(y), T1 w(y)
  )");
}

TEST(BlocksTable, ALockOfOneThreadOnly) {
  expect_table("blocks", R"(
    T1        | T2
    begin(t1) |
    acq(own)  |
    rel(own)  |
    acq(own)  |
    r(x)      |
    rel(own)  |
    end       |
              | r(x)
    => clean
  )");
}

}  // namespace
}  // namespace heddle::test
