// ndseq: parallel tasks and the sequential runs they equal, rule by rule. Times run downward.
#include <gtest/gtest.h>

#include "ndseq_table.h"

namespace heddle::test {
namespace {

// A call of code that tells nothing, before and after which x is touched: it may have used x at any time in
// between, so T2's write comes before it and after it.
TEST(Ndseq, UnknownCallThatIsInterrupted) {
  expect_table("ndseq", R"(
    T1         | T2
    task(1)    |
    set(l)     |
    touch(x)>l |
               | task(2)
               | w(x)
               | endtask
    touch(x)>l |
    w(y)<l     |
    endtask    |
    focus(y)   |
    => unserializable-tasks potential: T1 touch(x)>l, T2 w(x), T1 touch(x)>l
  )");
}

// What it has seen of x, it may have written to y; whoever only looks writes nothing.
TEST(Ndseq, UnknownCallWritesWhatItHasSeen) {
  expect_table("ndseq", R"(
    T1         | T2
    task(1)    |
    r(x)>a     |
    w(z)<a     |
               | task(2)
               | set(l)
               | look(x)>l
               | touch(y)>l
               | endtask
    r(y)>b     |
    w(z)<b     |
    w(x)<a     |
    endtask    |
    focus(z)   |
    => clean
  )");
  expect_table("ndseq", R"(
    T1         | T2
    task(1)    |
    w(x)       |
               | task(2)
               | set(l)
               | look(x)>l
               | touch(y)>l
               | endtask
    r(y)>b     |
    w(z)<b     |
    endtask    |
    focus(z)   |
    => unserializable-tasks potential: T1 w(x), T2 look(x)>l, T2 touch(y)>l, T1 r(y)>b
  )");
}

// What is counted is the same in any order: T1 and T2 count by turns, and only the sum is looked at.
TEST(Ndseq, CountsCommute) {
  expect_table("ndseq", R"(
    T1         | T2
    task(1)    |
    count(x)   |
               | task(2)
               | count(x)
    count(x)   |
    endtask    |
               | count(x)
               | endtask
    r(x)>a     |
    br(a)      |
    => clean
  )");
}

// Whoever looks in between comes after what was counted before and before what is counted later.
TEST(Ndseq, CountsConflictWithLooks) {
  expect_table("ndseq", R"(
    T1         | T2
    task(1)    |
    count(x)   |
               | task(2)
               | r(x)>a
               | br(a)
               | endtask
    count(x)   |
    endtask    |
    => unserializable-tasks observed: T1 count(x), T2 r(x)>a, T1 count(x)
  )");
  // Nobody needs what was seen.
  expect_table("ndseq", R"(
    T1         | T2
    task(1)    |
    count(x)   |
               | task(2)
               | r(x)>a
               | endtask
    count(x)   |
    endtask    |
    => clean
  )");
  // A write is no counting.
  expect_table("ndseq", R"(
    T1         | T2
    task(1)    |
    count(x)   |
               | task(2)
               | w(x)
               | endtask
    count(x)   |
    endtask    |
    focus(x)   |
    => unserializable-tasks observed: T1 count(x), T2 w(x), T1 count(x)
  )");
}

// Each adds to the sum, so that none can be left out where it is looked at: not only a task's last one.
TEST(Ndseq, CountsAreNotLeftOut) {
  const auto table = [](const char* last) {
    return fmt::format(R"(
    T1
    task(1)
    nd
    count(x)
    endnd
    nd
    count(x)
    endnd
    endtask
    {}
    => clean
  )",
                       last);
  };
  EXPECT_EQ(sequential_run(table("r(x)")), "1");
  EXPECT_EQ(sequential_run(table("focus(x)")), "1");
  EXPECT_EQ(sequential_run(table("r(y)")), "1; without row 2, row 5");
}

// Conflicts of tasks inside tasks count for these. Neither pair alone is a cycle.
TEST(Ndseq, ConflictsOfInnerTasksCountForOuterOnes) {
  expect_table("ndseq", R"(
    T1        | T2
    task(A)   |
              | task(B)
    task(a1)  |
    set(l)    |
    w(x)<l    |
    endtask   |
              | task(b1)
              | r(x)>l
              | w(y)<l
              | endtask
    task(a2)  |
    r(y)>l    |
    w(z)<l    |
    endtask   |
    endtask   |
              | endtask
    focus(z)  |
    => unserializable-tasks observed: T1 w(x)<l, T2 r(x)>l, T2 w(y)<l, T1 r(y)>l
  )");
}

// Inner tasks may be interleaved where their parents are in order; and they have an order of their own.
TEST(Ndseq, OrderAtEveryLevel) {
  EXPECT_EQ(sequential_run(R"(
    T1          | T2       | T3
    task(A)     |          |
    fork(T2)    |          |
    fork(T3)    |          |
                | task(a1) |
                |          | task(a2)
                |          | set(l)
                |          | w(x)<l
                | r(x)>l   |
                | w(y)<l   |
                | endtask  |
                |          | endtask
    join(T2)    |          |
    join(T3)    |          |
    endtask     |          |
    task(B)     |          |
    r(y)>l      |          |
    br(l)       |          |
    endtask     |          |
    focus(y)    |          |
  )"),
            "A, >a2, >a1, B");
}

// A thread forked inside a task is in that task: what it does is no conflict with the task itself.
TEST(Ndseq, ThreadsForkedInsideATask) {
  const std::string_view table = R"(
    T1         | T2     | T3
    task(A)    |        |
    fork(T2)   |        |
    r(x)>l     |        |
               | r(x)>m |
               | w(x)<m |
    w(x)<l     |        |
    endtask    |        |
               |        | task(B)
               |        | r(x)>l
               |        | w(x)<l
               |        | endtask
    focus(x)   |        |
    => clean
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(sequential_run(table), "A, B");
}

// What is started inside an if (true*) is left out with it.
TEST(Ndseq, TasksInsideAnIfTrue) {
  EXPECT_EQ(relevant_rows(R"(
    T1       | T2
    task(A)  |
    nd       |
    fork(T2) |
             | task(a)
             | r(x)>l
             | br(l)
             | endtask
    join(T2) |
    endnd    |
    set(l)   |
    w(y)<l   |
    endtask  |
    focus(y) |
  )"),
            (std::vector<int>{10, 11}));
}

// An if (true*) with something that matters keeps its branches, and the if (true*) around it.
TEST(Ndseq, NestedIfTrue) {
  EXPECT_EQ(relevant_rows(R"(
    T1
    task(A)
    nd
    r(x)>l
    br(l)
    nd
    r(y)>m
    br(m)
    endnd
    nd
    set(k)
    w(z)<k
    endnd
    endnd
    endtask
    focus(z)
  )"),
            (std::vector<int>{2, 3, 4, 9, 10, 11}));
}

// D2: of each task the last write before a read and the first after it, not others.
TEST(Ndseq, NearestWrites) {
  EXPECT_EQ(relevant_rows(R"(
    T1       | T2       | T3
    task(A)  |          |
    w(x)<a   |          |
    w(x)<b   |          |
             | task(B)  |
             | w(x)<a   |
             |          | task(C)
             |          | r(x)>l
             |          | br(l)
    w(x)<c   |          |
    w(x)<d   |          |
             | w(x)<b   |
             | w(x)<c   |
             |          | w(x)<e
  )"),
            (std::vector<int>{3, 5, 7, 8, 9, 11, 13}));
}

// A local that a task has not set is the one it was given.
TEST(Ndseq, LocalsOfTheTaskAround) {
  EXPECT_EQ(relevant_rows(R"(
    T1         | T2
    task(A)    |
    r(x)>l     |
    r(y)>m     |
    fork(T2)   |
               | task(a)
               | set(m)
               | w(z)<l
               | w(u)<m
               | endtask
    focus(z)   |
    focus(u)   |
  )"),
            (std::vector<int>{2, 6, 7, 8}));
}

// A barrier ends one parallel construct and begins the next (S3 §6.2).
TEST(Ndseq, Barriers) {
  const std::string_view table = R"(
    T1         | T2
    task(A)    |
               | task(B)
    set(l)     |
    w(x)<l     |
               | w(y)<k
    arrive(b)  |
               | arrive(b)
    leave(b)   |
               | leave(b)
               | r(x)>l
               | w(p)<l
    r(y)>l     |
    w(q)<l     |
    endtask    |
               | endtask
    focus(p)   |
    focus(q)   |
    => clean
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(sequential_run(table), "A, B, A (part 2), B (part 2)");
  // Without it the tasks would be ordered both ways.
  expect_table("ndseq", R"(
    T1         | T2
    task(A)    |
               | task(B)
    w(x)<l     |
               | w(y)<k
               | r(x)>l
               | w(p)<l
    r(y)>l     |
    w(q)<l     |
    focus(p)   |
    focus(q)   |
    => unserializable-tasks observed: T1 w(x)<l, T2 r(x)>l, T2 w(y)<k, T1 r(y)>l
  )");
}

// Tasks inside different tasks that meet: none of the outer ones can run alone.
TEST(Ndseq, BarrierAcrossLevels) {
  expect_table("ndseq", R"(
    T1         | T2
    task(A)    |
    task(a)    |
               | task(B)
               | task(b)
    arrive(m)  |
               | arrive(m)
    leave(m)   |
               | leave(m)
    => unserializable-tasks observed: T1 arrive(m), T2 leave(m), T2 arrive(m), T1 leave(m)
  )");
}

// A new life of a variable is another variable.
TEST(Ndseq, Lives) {
  expect_table("ndseq", R"(
    T1         | T2
    task(A)    |
    w(x)<l     |
               | task(B)
               | r(x)>l
               | br(l)
    free(x)    |
    alloc(x)   |
               | w(y)<l
    r(x)>l     |
    br(l)      |
    focus(y)   |
    => clean
  )");
}

// Of a read that goes to no local the trace does not tell what it decides.
TEST(Ndseq, ReadWithoutALocalMayDecideAnything) {
  const std::string_view table = R"(
    T1       | T2
    task(A)  |
    r(x)     |
             | task(B)
             | w(x)
    r(x)     |
    focus(y) |
    => unserializable-tasks observed: T1 r(x), T2 w(x), T1 r(x)
  )";
  expect_table("ndseq", table);
  EXPECT_EQ(chain_of(ask(table).findings.at(0), 0),
            (std::vector<std::string>{
                "why T1's read of x matters",
                "T1 r(x): the trace does not tell where the value goes, so it may decide anything"}));
}

TEST(Ndseq, SaysWhenThereIsNothingToCheck) {
  const Coverage without_tasks = ask(R"(
    T1
    w(x)
    focus(x)
  )")
                                     .coverage;
  EXPECT_FALSE(without_tasks.is_applicable);
  EXPECT_FALSE(without_tasks.undecided);
  EXPECT_EQ(without_tasks.note, "the trace has no tasks: no parallel loop or parallel begin");
  EXPECT_FALSE(without_tasks.sequential_run.has_value());

  const Coverage without_focus = ask(R"(
    T1
    task(A)
    w(x)
    endtask
  )")
                                     .coverage;
  EXPECT_TRUE(without_focus.undecided);
  EXPECT_EQ(without_focus.note,
            "nothing is named as the result (heddle::focus in programs, focus(x) in traces), so only "
            "branches count as the outcome; the trace does not tell how values depend on each other, so "
            "every read counts as a branch");

  const Coverage with_semaphores = ask(R"(
    T1
    task(A)
    post(s)
    endtask
    focus(x)
  )")
                                       .coverage;
  EXPECT_FALSE(with_semaphores.undecided);
  EXPECT_NE(with_semaphores.note.find("semaphores"), std::string::npos);
}

TEST(Ndseq, BadInput) {
  expect_refused(R"(
    T1
    nd
  )",
                 "table:1: T1 enters an if (true*) outside any task");
  expect_refused(R"(
    T1
    task(A)
    endtask
    endtask
  )",
                 "table:3: T1 ends a task, but none is open");
  expect_refused(R"(
    T1
    task(A)
    nd
    endtask
  )",
                 "table:3: T1 ends a task inside an if (true*): its endnd is missing");
  expect_refused(R"(
    T1
    task(A)
    nd
    task(B)
    endnd
  )",
                 "table:4: T1 leaves an if (true*) while a task that it began inside is open");
  expect_refused(R"(
    T1
    task(A)
    endnd
  )",
                 "table:2: T1 has endnd, but no nd is open");
  expect_refused(R"(
    T1
    w(x)
    free(x)
    focus(x)
  )",
                 "table:3: focus on x, which was freed at event 1");
  // A thread forked inside a task is in it.
  expect_table("ndseq", R"(
    T1       | T2
    task(A)  |
    fork(T2) |
             | nd
             | endnd
    => clean
  )");
}

}  // namespace
}  // namespace heddle::test
