// ndseq on the programs of S3: its figures, and lazy initialization, which it is known to warn about. Times
// run downward; tasks are named for what they stand for in the paper.
#include <gtest/gtest.h>

#include "ndseq_table.h"

namespace heddle::test {
namespace {

// Fig. 2: iteration 1 looks at lowest_cost (e2), iteration 2 lowers it (e12), iteration 1 looks again (e15).
// In brackets the paper's numbers; cond stands for the continue of line 5, as in A2.
constexpr std::string_view kSearch = R"(
  T1                  | T2
  task(i=1)           |
  set(b)              |
  r(lowest_cost)>t    |
                      | task(i=2)
                      | set(b)
                      | r(lowest_cost)>t
  nd                  |
  set(l,b,t)          |
  br(l)               |
  endnd               |
                      | nd
                      | set(l,b,t)
                      | br(l)
                      | endnd
                      | set(c)
                      | r(lowest_cost)>t
                      | set(less,c,t)
                      | br(less)
                      | w(lowest_cost)<c
                      | set(i)
                      | w(best_soln)<i
                      | endtask
  set(c)              |
  r(lowest_cost)>t    |
  set(less,c,t)       |
  br(less)            |
  endtask             |
                      | task(i=3)
                      | set(b)
                      | r(lowest_cost)>t
                      | nd
                      | set(l,b,t)
                      | br(l)
                      | set(cond)
                      | endnd
                      | br(cond)
                      | endtask
  focus(lowest_cost)  |
  focus(best_soln)    |
)";

// S3 §5.1: relevant are e9–e13 of i=2, e14–e16 of i=1 and e17–e21 of i=3.
TEST(Ndseq, Figure2EventByEvent) {
  EXPECT_EQ(relevant_rows(kSearch), (std::vector<int>{15, 16, 17, 18, 19, 20, 21,     // i=2 from the work on
                                                      23, 24, 25, 26,                 // i=1 likewise
                                                      29, 30, 31, 32, 33, 34, 36}));  // all of i=3
  EXPECT_TRUE(ask(kSearch).findings.empty());
  EXPECT_EQ(counts(kSearch), "16 events, 6 irrelevant; 1 by conflicts, 0 by ndseq");
}

// Fig. 3: the run with i=2 first; the first looks of i=1 and i=2 are left out.
TEST(Ndseq, Figure3IsTheSequentialRun) {
  EXPECT_EQ(sequential_run(kSearch), "i=2, i=1, i=3; without row 7, row 11");
}

// Fig. 1(a), without true*: the same is a violation.
TEST(Ndseq, Figure1WithoutTheSpecification) {
  const std::string_view table = R"(
    T1                  | T2
    task(i=1)           |
    r(lowest_cost)>t    |
    set(l,b,t)          |
    br(l)               |
                        | task(i=2)
                        | r(lowest_cost)>t
                        | set(less,c,t)
                        | br(less)
                        | w(lowest_cost)<c
                        | endtask
    r(lowest_cost)>t    |
    set(less,c,t)       |
    br(less)            |
    endtask             |
    focus(lowest_cost)  |
    => unserializable-tasks observed: T1 r(lowest_cost)>t, T2 w(lowest_cost)<c, T1 r(lowest_cost)>t
  )";
  expect_table("ndseq", table);
  const Finding finding = ask(table).findings.at(0);
  EXPECT_EQ(finding.message, "no order of i=1 and i=2 gives what they did to lowest_cost");
  EXPECT_EQ(finding.steps[1].block, "i=2");
  ASSERT_EQ(finding.chains.size(), 3U);
  EXPECT_EQ(chain_of(finding, 0),
            (std::vector<std::string>{"why T1's read of lowest_cost matters", "T1 r(lowest_cost)>t",
                                      "T1 set(l,b,t): uses that value",
                                      "T1 br(l): is decided by that value; a branch outside any if (true*): "
                                      "the run must go the same way"}));
  EXPECT_EQ(
      chain_of(finding, 1),
      (std::vector<std::string>{
          "why T2's write of lowest_cost matters",
          "T2 w(lowest_cost)<c: lowest_cost is a focus location, and this is its task's last write of it"}));
}

// Fig. 5, optimistic concurrent computation: A's first attempt is in vain.
TEST(Ndseq, OptimisticComputation) {
  const std::string_view table = R"(
    T1               | T2
    task(A)          |
    r(shared)>local  |
                     | task(B)
                     | r(shared)>local
                     | set(result,local)
                     | nd
                     | r(shared)>now
                     | set(same,local,now)
                     | br(same)
                     | w(shared)<result
                     | set(done)
                     | endnd
                     | br(done)
                     | endtask
    set(result,local) |
    set(done)        |
    nd               |
    r(shared)>now    |
    set(same,local,now) |
    br(same)         |
    endnd            |
    br(done)         |
    r(shared)>local  |
    set(result,local) |
    nd               |
    r(shared)>now    |
    set(same,local,now) |
    br(same)         |
    w(shared)<result |
    set(done)        |
    endnd            |
    br(done)         |
    endtask          |
    focus(shared)    |
    => clean
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(sequential_run(table), "B, A; without row 17");
  EXPECT_EQ(counts(table), "17 events, 4 irrelevant; 4 by conflicts, 0 by ndseq");
}

// The same where A commits though the shared data has changed: the bug that is_conflict should prevent.
TEST(Ndseq, OptimisticComputationWithoutTheCheck) {
  expect_table("ndseq", R"(
    T1               | T2
    task(A)          |
    r(shared)>local  |
                     | task(B)
                     | r(shared)>local
                     | nd
                     | w(shared)<local
                     | endnd
                     | endtask
    nd               |
    w(shared)<local  |
    endnd            |
    endtask          |
    focus(shared)    |
    => unserializable-tasks observed: T1 r(shared)>local, T2 w(shared)<local, T1 w(shared)<local
  )");
}

// Fig. 5, redundant computation: the check saw old data, then the work was done.
TEST(Ndseq, RedundantComputation) {
  const std::string_view table = R"(
    T1               | T2
    task(A)          |
    set(skip)        |
    nd               |
    r(shared)>s      |
    br(s)            |
    endnd            |
                     | task(B)
                     | set(x)
                     | w(shared)<x
                     | endtask
    br(skip)         |
    r(shared)>s      |
    w(shared)<s      |
    endtask          |
    focus(shared)    |
    => clean
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(sequential_run(table), "B, A; without row 3");
}

// Fig. 5, irrelevant computation: a statistic counter, not in focus. Where it is in focus, its updates are
// lost.
TEST(Ndseq, IrrelevantComputation) {
  const std::string counter = R"(
    T1             | T2
    task(A)        |
                   | task(B)
    nd             |
                   | nd
    r(counter)>c   |
                   | r(counter)>c
    br(c)          |
                   | br(c)
    w(counter)<c   |
                   | w(counter)<c
    endnd          |
                   | endnd
    set(x)         |
    w(result)<x    |
    endtask        |
                   | endtask
    focus(result)  |
)";
  expect_table("ndseq", counter + "    => clean\n");
  EXPECT_EQ(sequential_run(counter), "A, B; without row 3, row 4");
  EXPECT_EQ(counts(counter), "9 events, 8 irrelevant; 1 by conflicts, 0 by ndseq");
  expect_table("ndseq", counter + R"(
    focus(counter) |
    => unserializable-tasks observed: T2 r(counter)>c, T1 w(counter)<c, T2 w(counter)<c
  )");
}

// Fig. 9: A's compare-and-swap fails and is tried again.
TEST(Ndseq, Figure9Reduction) {
  const std::string_view table = R"(
    T1                   | T2
    task(1)              |
    set(done)            |
    br(done)             |
    nd                   |
    r(x)>prev            |
                         | task(2)
                         | set(done)
                         | br(done)
                         | nd
                         | r(x)>prev
                         | set(curr,prev)
                         | armw(x,seq_cst)>curr
                         | set(c,curr,prev)
                         | br(c)
                         | set(done)
                         | endnd
                         | br(done)
                         | endtask
    set(curr,prev)       |
    acasfail(x,seq_cst)>curr |
    set(c,curr,prev)     |
    br(c)                |
    endnd                |
    br(done)             |
    nd                   |
    r(x)>prev            |
    set(curr,prev)       |
    armw(x,seq_cst)>curr |
    set(c,curr,prev)     |
    br(c)                |
    set(done)            |
    endnd                |
    br(done)             |
    endtask              |
    focus(x)             |
    => clean
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(sequential_run(table), "2, 1; without row 4");
}

// Without the if (true*) of line 4 every attempt counts, and the one in vain saw x before and after the
// other's.
TEST(Ndseq, ReductionWithoutTheSpecification) {
  expect_table("ndseq", R"(
    T1                       | T2
    task(1)                  |
    r(x)>prev                |
                             | task(2)
                             | armw(x,seq_cst)
                             | endtask
    set(curr,prev)           |
    acasfail(x,seq_cst)>curr |
    set(c,curr,prev)         |
    br(c)                    |
    endtask                  |
    focus(x)                 |
    => unserializable-tasks observed: T1 r(x)>prev, T2 armw(x,seq_cst), T1 acasfail(x,seq_cst)>curr
  )");
}

// Fig. 8, Treiber's stack with a version: two pushes, the first of which has to try again. new_top.next is
// written anew by each attempt; only the last write counts. CAS2 compares and writes TOP and version.
constexpr std::string_view kStack = R"(
  T1                           | T2
  task(push1)                  |
  r(TOP)>top                   |
  r(version)>v                 |
  w(n1.next)<top               |
                               | task(push2)
                               | r(TOP)>top
                               | r(version)>v
                               | w(n2.next)<top
                               | nd
                               | set(t,n,top,v)
                               | armw(TOP,seq_cst)>t
                               | armw(version,seq_cst)>v
                               | set(ok,t,v,top)
                               | br(ok)
                               | set(done)
                               | endnd
                               | br(done)
                               | endtask
  nd                           |
  set(t,n,top,v)               |
  acasfail(TOP,seq_cst)>t      |
  acasfail(version,seq_cst)>v  |
  set(ok,t,v,top)              |
  br(ok)                       |
  endnd                        |
  br(done)                     |
  r(TOP)>top                   |
  r(version)>v                 |
  w(n1.next)<top               |
  nd                           |
  set(t,n,top,v)               |
  armw(TOP,seq_cst)>t          |
  armw(version,seq_cst)>v      |
  set(ok,t,v,top)              |
  br(ok)                       |
  set(done)                    |
  endnd                        |
  br(done)                     |
  endtask                      |
  focus(TOP)                   |
  focus(n1.next)               |
  focus(n2.next)               |
)";

TEST(Ndseq, Figure8TreiberStack) {
  EXPECT_TRUE(ask(kStack).findings.empty());
  EXPECT_EQ(sequential_run(kStack), "push2, push1; without row 19");
  EXPECT_EQ(counts(kStack), "28 events, 7 irrelevant; 7 by conflicts, 0 by ndseq");
}

// A pop beside a push: the pop sees the empty stack, its attempt is in vain, then it takes what was pushed.
TEST(Ndseq, TreiberStackPop) {
  const std::string_view table = R"(
    T1                       | T2
    task(pop)                |
    r(TOP)>top               |
                             | task(push)
                             | r(TOP)>top
                             | w(n.next)<top
                             | nd
                             | set(t,top)
                             | armw(TOP,seq_cst)>t
                             | br(t)
                             | set(done)
                             | endnd
                             | br(done)
                             | endtask
    nd                       |
    br(top)                  |
    acasfail(TOP,seq_cst)>t  |
    br(t)                    |
    endnd                    |
    br(done)                 |
    r(TOP)>top               |
    nd                       |
    br(top)                  |
    r(n.next)>next           |
    set(t,next,top)          |
    armw(TOP,seq_cst)>t      |
    br(t)                    |
    set(done)                |
    set(value,top)           |
    endnd                    |
    br(done)                 |
    w(popped)<value          |
    endtask                  |
    focus(TOP)               |
    focus(popped)            |
    => clean
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(sequential_run(table), "push, pop; without row 14");
}

// Michael and Scott's queue with the tail moved by the same step: the second enqueue's first attempt finds
// the tail's next taken.
TEST(Ndseq, MichaelScottQueue) {
  const std::string_view table = R"(
    T1                            | T2
    task(enqueue1)                |
    r(tail)>last                  |
    r(n0.next)>next               |
                                  | task(enqueue2)
                                  | r(tail)>last
                                  | r(n0.next)>next
                                  | nd
                                  | br(next)
                                  | set(new,last)
                                  | armw(n0.next,seq_cst)>new
                                  | br(new)
                                  | set(moved,last)
                                  | armw(tail,seq_cst)>moved
                                  | br(moved)
                                  | set(done)
                                  | endnd
                                  | br(done)
                                  | endtask
    nd                            |
    br(next)                      |
    set(new,last)                 |
    acasfail(n0.next,seq_cst)>new |
    br(new)                       |
    endnd                         |
    br(done)                      |
    r(tail)>last                  |
    r(n2.next)>next               |
    nd                            |
    br(next)                      |
    set(new,last)                 |
    armw(n2.next,seq_cst)>new     |
    br(new)                       |
    set(moved,last)               |
    armw(tail,seq_cst)>moved      |
    br(moved)                     |
    set(done)                     |
    endnd                         |
    br(done)                      |
    endtask                       |
    focus(tail)                   |
    focus(n0.next)                |
    focus(n2.next)                |
    => clean
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(sequential_run(table), "enqueue2, enqueue1; without row 19");
}

// S3 §6.4, known to warn: A initializes, B uses what A made, and A later reads what B wrote. Any of them
// could have initialized, but the algorithm does not know that.
TEST(Ndseq, LazyInitializationIsAFalseAlarm) {
  expect_table("ndseq", R"(
    T1           | T2
    task(A)      |
    r(flag)>f    |
    br(f)        |
    set(o)       |
    w(object)<o  |
    set(f)       |
    w(flag)<f    |
                 | task(B)
                 | r(flag)>f
                 | br(f)
                 | r(object)>o
                 | w(y)<o
                 | endtask
    r(y)>t       |
    w(z)<t       |
    endtask      |
    focus(y)     |
    focus(z)     |
    => unserializable-tasks observed: T1 w(flag)<f, T2 r(flag)>f, T2 w(y)<o, T1 r(y)>t
    => unserializable-tasks observed: T1 w(object)<o, T2 r(object)>o, T2 w(y)<o, T1 r(y)>t
  )");
}

// The first source of false alarms there, which true* removes: B finds the flag down, then up.
TEST(Ndseq, LazyInitializationCheckedTwice) {
  const std::string_view table = R"(
    T1           | T2
                 | task(B)
                 | set(skip)
                 | nd
                 | r(flag)>f
                 | br(f)
                 | endnd
    task(A)      |
    r(flag)>f    |
    br(f)        |
    w(flag)<up   |
    endtask      |
                 | br(skip)
                 | r(flag)>f
                 | br(f)
                 | endtask
    focus(flag)  |
    => clean
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(sequential_run(table), "A, B; without row 3");
}

}  // namespace
}  // namespace heddle::test
