// reduction on the same sets of transactions as blocks: what the movers cannot prove. Where this reports and
// blocks does not, the block is atomic all the same.
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

// (1), (2)
TEST(ReductionTable, Example1ReadersMayComeBetween) {
  expect_table("reduction", R"(
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
TEST(ReductionTable, Example3RaceFreeAndNotAtomic) {
  expect_table("reduction", R"(
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
    => not-reducible potential [setXY]: T1 rel(l), T1 acq(l)
    => not-reducible potential [setXY]: T2 rel(l), T2 acq(l)
  )");
}

// (4)
TEST(ReductionTable, Example4ViewInconsistentAndAtomic) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t2]: T2 rel(l), T2 acq(l)
  )");
}

// (5)
TEST(ReductionTable, Example5ViewConsistentAndNotAtomic) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t2]: T2 rel(l), T2 acq(l)
  )");
}

// (6)
TEST(ReductionTable, Example6PairwiseIsMorePrecise) {
  expect_table("reduction", R"(
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

// The same by the common-lock test (Thm 4.4).
TEST(ReductionTable, Example6PairwiseIsMorePreciseThanACommonLock) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 w(x), T1 r(x), T2 r(x)
  )",
               {.race_freedom = RaceFreedom::kCommonLock});
}

// (7)
TEST(ReductionTable, Example7BlindWrites) {
  expect_table("reduction", R"(
    T1        | T2
    begin(t1) |
    w(x)      |
    w(x)      |
    end       |
              | begin(t2)
              | w(x)
              | end
    => not-reducible potential [t1]: T1 w(x), T1 w(x), T2 w(x)
  )");
}

// (8)
TEST(ReductionTable, Example8OneNonMoverAfterALock) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 rel(l), T1 w(y), T2 w(y)
    => not-reducible potential [t2]: T2 rel(l), T2 w(y), T1 w(y)
  )");
}

// (9)
TEST(ReductionTable, Example9TwoCriticalSections) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 rel(l), T1 acq(l)
    => not-reducible potential [t2]: T2 rel(l), T2 acq(l)
  )");
}

// (10): the locksets allow the write between the reads, the locks do not
TEST(ReductionTable, Example10OnlyADeadlockIsBetween) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 rel(l2), T1 r(x), T2 w(x)
    => not-reducible potential [t2]: T2 rel(l1), T2 w(x), T1 r(x)
  )");
}

// (13): B1(b)
TEST(ReductionTable, Example13EndToEnd) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 rel(l), T1 w(x), T2 w(x)
  )");
}

// (15)
TEST(ReductionTable, Example15TheReadSeesItsOwnWrite) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t2]: T2 rel(l), T2 acq(l)
  )");
}

// (16): any two of them are atomic
TEST(ReductionTable, Example16ThreeTransactions) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 w(x), T1 w(y), T2 r(x), T3 r(y)
    => not-reducible potential [t2]: T2 r(x), T2 w(z), T1 w(x), T3 r(z)
    => not-reducible potential [t3]: T3 r(z), T3 r(y), T2 w(z), T1 w(y)
  )");
}

// (16) without its third
TEST(ReductionTable, Example16NeedsAllThree) {
  expect_table("reduction", R"(
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
TEST(ReductionTable, ABlindLastWriteHidesNothing) {
  expect_table("reduction", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    w(x)      |
              | w(x)
    => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(ReductionTable, ASubsetIsEnough) {
  expect_table("reduction", R"(
    T2   | T1
    w(y) |
    w(x) |
         | begin(t1)
         | w(y)
         | r(x)
         | end
         | w(y)
    => not-reducible potential [t1]: T1 w(y), T1 r(x), T2 w(y), T2 w(x)
  )");
}

TEST(ReductionTable, InitializationIsNotByLockOrder) {
  expect_table("reduction", R"(
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
    => not-reducible potential [a]: A w(x), A acq(m), B r(x)
    => not-reducible potential [b]: B r(x), B r(x), A w(x)
  )");
}

TEST(ReductionTable, ForkIsALeftMover) {
  expect_table("reduction", R"(
    A        | B
    begin(a) |
    w(x)     |
    fork(B)  |
    w(x)     |
    end      |
             | r(x)
    => not-reducible potential [a]: A fork(B), A w(x), B r(x)
  )");
}

// no serial schedule
TEST(ReductionTable, ForkAndJoinInside) {
  expect_table("reduction", R"(
    A        | B
    begin(a) |
    fork(B)  |
             | w(x)
    join(B)  |
    end      |
    r(x)     |
    => not-reducible potential [a]: A fork(B), A join(B)
  )");
}

TEST(ReductionTable, ForkAndJoinOfAThreadThatSharesNothing) {
  expect_table("reduction", R"(
    A        | B
    begin(a) |
    fork(B)  |
             | w(x)
    join(B)  |
    end      |
    => not-reducible potential [a]: A fork(B), A join(B)
  )");
}

TEST(ReductionTable, OrderedByForkAndJoin) {
  expect_table("reduction", R"(
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
TEST(ReductionTable, TwoOperationsOfOneThread) {
  expect_table("reduction", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    r(y)      |
    end       |
              | w(x)
              | w(y)
    => not-reducible potential [t1]: T1 r(x), T1 r(y), T2 w(x), T2 w(y)
  )");
}

TEST(ReductionTable, TwoOperationsUnderOneLock) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 rel(l), T1 acq(l)
  )");
}

TEST(ReductionTable, ALockAroundBoth) {
  expect_table("reduction", R"(
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

TEST(ReductionTable, ReadersShareALock) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 rel_sh(l), T1 acq_sh(l)
  )");
}

TEST(ReductionTable, AWriterBetweenReaders) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 rel_sh(l), T1 acq_sh(l)
  )");
}

TEST(ReductionTable, AReadModifyWriteIsOne) {
  expect_table("reduction", R"(
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

TEST(ReductionTable, LoadAndStoreAreTwo) {
  expect_table("reduction", R"(
    T1            | T2
    begin(t1)     |
    ar(x,seq_cst) |
    aw(x,seq_cst) |
    end           |
                  | armw(x,relaxed)
    => not-reducible potential [t1]: T1 ar(x,seq_cst), T1 aw(x,seq_cst), T2 armw(x,relaxed)
  )");
}

TEST(ReductionTable, ABarrierSeparates) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(ReductionTable, ASemaphoreHandsOver) {
  expect_table("reduction", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
    end       |
    post(s)   |
              | wait(s)
              | w(x)
    => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(ReductionTable, AnotherLifeIsAnotherVariable) {
  expect_table("reduction", R"(
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

TEST(ReductionTable, ABlockThatNeverEnds) {
  expect_table("reduction", R"(
    T1        | T2
    begin(t1) |
    r(x)      |
    w(x)      |
              | w(x)
    => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(ReductionTable, ALockNeverGivenBack) {
  expect_table("reduction", R"(
    T1        | T2
    begin(t1) |
    acq(l)    |
    r(x)      |
    w(x)      |
    end       |
              | w(x)
    => not-reducible potential [t1]: T1 r(x), T1 w(x), T2 w(x)
  )");
}

TEST(ReductionTable, InitializationIsDoneAlone) {
  expect_table("reduction", R"(
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
TEST(ReductionTable, TheHashtableStory) {
  expect_table("reduction", R"(
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
    => not-reducible potential [KeyIterator::next]: T1 rel(table), T1 acq(table)
  )");
}

// The same in one critical section.
TEST(ReductionTable, TheHashtableStoryMended) {
  expect_table("reduction", R"(
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
TEST(ReductionTable, AnotherThreadsBlockIsNoExcuse) {
  expect_table("reduction", R"(
    T1        | T2
    begin(t1) |
    w(x)      |
    w(y)      |
    end       |
              | begin(t2)
              | w(y)
              | w(x)
              | end
    => not-reducible potential [t1]: T1 w(x), T1 w(y), T2 w(x), T2 w(y)
    => not-reducible potential [t2]: T2 w(y), T2 w(x), T1 w(y), T1 w(x)
  )");
}

// Locks that do not nest: the next one is taken before the last is given back.
TEST(ReductionTable, HandOverHand) {
  expect_table("reduction", R"(
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

TEST(ReductionTable, HandOverHandWithAGap) {
  expect_table("reduction", R"(
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
    => not-reducible potential [t1]: T1 rel(l1), T1 acq(l2)
  )");
}

TEST(ReductionTable, ALockOfOneThreadOnly) {
  expect_table("reduction", R"(
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
