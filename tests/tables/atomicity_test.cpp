// atomicity, rule by rule: which conflicts order two transactions (S0 Fig. 5), what closes a cycle, who is
// blamed. Every table is judged by both engines, with and without the race filter; the findings are the graph
// engine's.
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

void expect_atomicity(std::string_view text) { expect_table_by_every_engine("atomicity", text); }

// [XS READ], [XS WRITE]

TEST(AtomicityTable, LostUpdate) {
  expect_atomicity(R"(
    T1         | T2
    begin(add) |
    r(x)       |
               | begin(add)
               | r(x)
               | w(x)
               | end
    w(x)       |
    end        |
    => atomicity-violation observed [add]: T1 r(x), T2 w(x), T1 w(x)
  )");
}

TEST(AtomicityTable, UnrepeatableRead) {
  expect_atomicity(R"(
    T1         | T2
    begin(sum) |
    r(x)       |
               | w(x)
    r(x)       |
    end        |
    => atomicity-violation observed [sum]: T1 r(x), T2 w(x), T1 r(x)
  )");
}

TEST(AtomicityTable, DirtyRead) {
  expect_atomicity(R"(
    T1         | T2
    begin(set) |
    w(x)       |
               | r(x)
    w(x)       |
    end        |
    => atomicity-violation observed [set]: T1 w(x), T2 r(x), T1 w(x)
  )");
}

TEST(AtomicityTable, ReadsDoNotConflict) {
  expect_atomicity(R"(
    T1         | T2
    begin(sum) |
    r(x)       |
               | r(x)
    r(x)       |
    end        |
    => clean
  )");
}

TEST(AtomicityTable, SomebodyBetweenIsFineIfASerialOrderExplainsIt) {
  expect_atomicity(R"(
    T1        | T2
    begin(f)  |
    w(x)      |
              | begin(g)
              | r(x)
              | w(y)
              | end
    w(z)      |
    end       |
    => clean
  )");
}

TEST(AtomicityTable, AtomicsAreVariables) {
  expect_atomicity(R"(
    T1                | T2
    begin(check)      |
    ar(x,seq_cst)     |
                      | armw(x,seq_cst)
    aw(x,seq_cst)     |
    end               |
    => atomicity-violation observed [check]: T1 ar(x,seq_cst), T2 armw(x,seq_cst), T1 aw(x,seq_cst)
  )");
}

TEST(AtomicityTable, AFailedCompareExchangeOnlyReads) {
  expect_atomicity(R"(
    T1               | T2
    begin(f)         |
    ar(x,relaxed)    |
                     | acasfail(x,relaxed)
    ar(x,relaxed)    |
    end              |
    => clean
  )");
}

TEST(AtomicityTable, AnotherLifeIsAnotherVariable) {
  expect_atomicity(R"(
    T1        | T2
    begin(f)  |
    w(x)      |
              | free(x)
              | alloc(x)
              | w(x)
              | free(x)
    alloc(x)  |
    w(x)      |
    end       |
    => clean
  )");
}

// [XS ACQUIRE], [XS RELEASE]

TEST(AtomicityTable, CheckThenActWithEveryAccessLocked) {
  expect_atomicity(R"(
    T1               | T2
    begin(withdraw)  |
    acq(m)           |
    r(balance)       |
    rel(m)           |
                     | begin(deposit)
                     | acq(m)
                     | w(balance)
                     | rel(m)
                     | end
    acq(m)           |
    w(balance)       |
    rel(m)           |
    end              |
    => atomicity-violation observed [withdraw]: T1 r(balance), T2 w(balance), T1 w(balance)
  )");
}

TEST(AtomicityTable, TwoPhaseLocking) {
  expect_atomicity(R"(
    T1         | T2
    begin(f)   |
    acq(m)     |
    r(x)       |
    acq(n)     |
    w(y)       |
    rel(m)     |
               | begin(g)
               | acq(m)
               | w(x)
    rel(n)     |
               | acq(n)
               | r(y)
               | rel(n)
               | rel(m)
               | end
    end        |
    => clean
  )");
}

// The lock itself is taken twice: even with nothing guarded by it, the order of the critical sections is
// seen.
TEST(AtomicityTable, LocksAloneCloseACycle) {
  expect_atomicity(R"(
    T1        | T2
    begin(f)  |
    acq(m)    |
    rel(m)    |
              | acq(m)
              | rel(m)
    acq(m)    |
    rel(m)    |
    end       |
    => atomicity-violation observed [f]: T1 rel(m), T2 acq(m), T2 rel(m), T1 acq(m)
  )");
}

TEST(AtomicityTable, ReadersOfALockDoNotConflict) {
  expect_atomicity(R"(
    T1          | T2
    begin(f)    |
    acq_sh(m)   |
    rel_sh(m)   |
                | acq_sh(m)
                | rel_sh(m)
    acq_sh(m)   |
    rel_sh(m)   |
    end         |
    => clean
  )");
}

TEST(AtomicityTable, AWriterBetweenTwoReadersConflicts) {
  expect_atomicity(R"(
    T1          | T2
    begin(f)    |
    acq_sh(m)   |
    rel_sh(m)   |
                | acq(m)
                | rel(m)
    acq_sh(m)   |
    rel_sh(m)   |
    end         |
    => atomicity-violation observed [f]: T1 rel_sh(m), T2 acq(m), T2 rel(m), T1 acq_sh(m)
  )");
}

// [XS FORK OUT], [XS JOIN]: an atomic block does not take the threads in that it forks.

TEST(AtomicityTable, ABlockThatForksAndJoinsIsNotAtomic) {
  expect_atomicity(R"(
    main       | T1
    begin(f)   |
    fork(T1)   |
               | w(x)
    join(T1)   |
    end        |
    => atomicity-violation observed [f]: main fork(T1), T1 w(x), main join(T1)
  )");
}

TEST(AtomicityTable, ForkOutsideTheBlock) {
  expect_atomicity(R"(
    main       | T1
    fork(T1)   |
    begin(f)   |
               | w(x)
    join(T1)   |
    r(x)       |
    end        |
    => clean
  )");
}

// Even a thread that touches nothing runs between its fork and its join.
TEST(AtomicityTable, AThreadThatOnlyEndsStillRan) {
  expect_atomicity(R"(
    main       | T1
    begin(f)   |
    fork(T1)   |
               | stop
    join(T1)   |
    end        |
    => atomicity-violation observed [f]: main fork(T1), T1 stop, main join(T1)
  )");
}

TEST(AtomicityTable, JoiningAThreadThatDidNothingComesAfterItsFork) {
  expect_atomicity(R"(
    main       | T1 | T2
    begin(f)   |    |
    fork(T1)   |    |
               |    | join(T1)
               |    | w(x)
    r(x)       |    |
    end        |    |
    => atomicity-violation observed [f]: main fork(T1), T2 join(T1), T2 w(x), main r(x)
  )");
}

// Barriers and semaphores

TEST(AtomicityTable, TwoBlocksThatMeetAtABarrierCannotRunAlone) {
  expect_atomicity(R"(
    T1         | T2
    begin(f)   | begin(g)
    arrive(b)  |
               | arrive(b)
    leave(b)   |
               | leave(b)
    end        | end
    => atomicity-violation observed: T2 arrive(b), T1 leave(b), T1 arrive(b), T2 leave(b)
  )");
}

TEST(AtomicityTable, APostComesBeforeALaterWait) {
  expect_atomicity(R"(
    T1         | T2
    begin(f)   |
    post(s)    |
               | wait(s)
               | post(t)
    wait(t)    |
    end        |
    => atomicity-violation observed [f]: T1 post(s), T2 wait(s), T2 post(t), T1 wait(t)
  )");
}

TEST(AtomicityTable, AWaitDoesNotComeBeforeALaterPost) {
  expect_atomicity(R"(
    T1         | T2
    begin(f)   |
    wait(s)    |
               | post(s)
    post(s)    |
    end        |
    => clean
  )");
}

// Program order

// U's block comes before T's first block, that before T's second, and that before U's: the predecessor of a
// block is inherited from block to block.
TEST(AtomicityTable, PredecessorsAreInheritedThroughProgramOrder) {
  expect_atomicity(R"(
    U          | T
    begin(u)   |
    w(x)       |
               | begin(t1)
               | r(x)
               | end
               | begin(t2)
               | w(y)
               | end
    r(y)       |
    end        |
    => atomicity-violation observed [u]: U w(x), T r(x), T w(y), U r(y)
  )");
}

TEST(AtomicityTable, OperationsOutsideAnyBlockNeitherHideACycle) {
  expect_atomicity(R"(
    U          | T     | V
    begin(u)   |       |
    w(x)       |       |
               | r(x)  |
               | r(z)  |
               | w(y)  |
               |       | r(y)
               |       | w(v)
    r(v)       |       |
    end        |       |
    => atomicity-violation observed [u]: U w(x), T r(x), T w(y), V r(y), V w(v), U r(v)
  )");
}

TEST(AtomicityTable, NorMakeOneByThemselves) {
  expect_atomicity(R"(
    U     | T
    w(x)  |
          | r(x)
          | w(x)
    r(x)  |
    w(x)  |
    => clean
  )");
}

TEST(AtomicityTable, ABlockLeftOpenIsJudgedByWhatItDid) {
  expect_atomicity(R"(
    T1         | T2
    begin(f)   |
    r(x)       |
               | w(x)
    r(x)       |
    => atomicity-violation observed [f]: T1 r(x), T2 w(x), T1 r(x)
  )");
}

// Blame

TEST(AtomicityTable, ANestedBlockIsRefutedOnlyIfItContainsBothEnds) {
  expect_atomicity(R"(
    T1            | T2
    begin(outer)  |
    r(x)          |
    begin(inner)  |
                  | w(x)
    w(x)          |
    end           |
    end           |
    => atomicity-violation observed [outer]: T1 r(x), T2 w(x), T1 w(x)
  )");
}

TEST(AtomicityTable, ANestedBlockIsRefutedWithThoseAroundIt) {
  expect_atomicity(R"(
    T1            | T2
    begin(outer)  |
    begin(inner)  |
    r(x)          |
                  | w(x)
    w(x)          |
    end           |
    end           |
    => atomicity-violation observed [inner, outer]: T1 r(x), T2 w(x), T1 w(x)
  )");
}

TEST(AtomicityTable, AnEarlierNestedBlockIsNotRefuted) {
  expect_atomicity(R"(
    T1            | T2
    begin(outer)  |
    begin(first)  |
    r(x)          |
    end           |
                  | w(x)
    begin(second) |
    w(x)          |
    end           |
    end           |
    => atomicity-violation observed [outer]: T1 r(x), T2 w(x), T1 w(x)
  )");
}

// A comes before B by x and B before A by y, but neither happens in the middle of the other: whoever takes
// one of them as a whole can explain the run. Both together cannot be.
TEST(AtomicityTable, NobodyIsBlamedWhereTheOperationsDoNotHappenInTurn) {
  expect_atomicity(R"(
    T1        | T2        | T3
    begin(a)  | begin(b)  |
    w(x)      |           |
              | w(y)      |
              |           | r(y)
              | r(x)      |
              |           | w(z)
    r(z)      |           |
    end       | end       |
    => atomicity-violation observed: T1 w(x), T2 r(x), T2 w(y), T3 r(y), T3 w(z), T1 r(z)
  )");
}

// The cycle between f and T3's write begins after `around` did. Whoever explains it from there on must not
// take the deterministic block inside `around` for one that adopts T3.
TEST(AtomicityTable, AnExplanationKnowsTheBlocksBegunBeforeIt) {
  expect_atomicity(R"(
    T0        | T2                     | T3
    fork(T2)  |                        |
              | begin(around)          |
    begin(f)  |                        |
              | begin(g,deterministic) |
              | fork(T3)               |
    r(x)      |                        |
              |                        | w(x)
    join(T2)  |                        |
    join(T3)  |                        |
    => atomicity-violation observed [f]: T0 r(x), T3 w(x), T0 join(T3)
  )");
}

TEST(AtomicityTable, EachViolatedBlockIsNamedOnce) {
  expect_atomicity(R"(
    T1         | T2
    begin(f)   |
    r(x)       |
               | w(x)
    r(x)       |
    end        |
    begin(f)   |
    r(x)       |
               | w(x)
    r(x)       |
    end        |
    begin(g)   |
    r(x)       |
               | w(x)
    r(x)       |
    end        |
    => atomicity-violation observed [f]: T1 r(x), T2 w(x), T1 r(x)
    => atomicity-violation observed [g]: T1 r(x), T2 w(x), T1 r(x)
  )");
}

// The clock engine leaves out the edge that closes T1's cycle and so does not see T2's; the explanation does.
TEST(AtomicityTable, AnExplanationNamesEveryBlockItSees) {
  expect_table_by_every_engine("atomicity", R"(
    T1        | T2
    begin(f)  |
    r(x)      |
              | begin(g)
              | w(x)
    r(x)      |
              | w(x)
    => atomicity-violation observed [f]: T1 r(x), T2 w(x), T1 r(x)
    => atomicity-violation observed [g]: T2 w(x), T1 r(x), T2 w(x)
  )");
}

TEST(AtomicityTable, RefusesIllFormedTraces) {
  expect_refused(R"(
    T1
    end
  )",
                 "T1 ends a block, but none is open");
  expect_refused(R"(
    T1        | T2
    begin(f)  |
    join(T3)  |
  )",
                 "T1 joins T3, which was neither forked nor seen");
  expect_refused(R"(
    T1        | T2
    acq(m)    |
              | rel(m)
  )",
                 "T2 releases m, which it does not hold");
}

TEST(Atomicity, ABlockThatForksAndJoinsAThreadIsInterruptedByWhateverTheThreadDoes) {
  expect_table_by_every_engine("atomicity", R"(
    T0        | T2
    begin(b)  |
    fork(T2)  |
              | sync(s)
    join(T2)  |
    => atomicity-violation observed [b]: T0 fork(T2), T2 sync(s), T0 join(T2)
  )");
}

}  // namespace
}  // namespace heddle::test
