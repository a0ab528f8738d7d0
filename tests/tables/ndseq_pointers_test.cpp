// What ndseq makes of shared pointers that tasks take, drop and look for (docs/design/dataflow.md).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ndseq_table.h"

namespace heddle::test {
namespace {

// T1 takes a pointer and keeps it, T2 drops it, T3 finds none left, all before T1 ends: T1, T2, T3.
TEST(NdseqPointers, KeptPointersCountWhereTheyWereTaken) {
  expect_table("ndseq", R"(
    T1         | T2        | T3
    task(1)    |           |
    take(x,2)  |           |
    w(y)       |           |
               | task(2)   |
               | r(y)>a    |
               | drop(x,1) |
               | drop(x,0) |
               | endtask   |
               |           | task(3)
               |           | alive(x,0)
               |           | endtask
    endtask    |           |
    => clean
  )");
  // And T1 learns what T3 has found.
  expect_table("ndseq", R"(
    T1         | T2        | T3
    task(1)    |           |
    take(x,2)  |           |
               | task(2)   |
               | drop(x,1) |
               | drop(x,0) |
               | endtask   |
               |           | task(3)
               |           | alive(x,0)
               |           | w(z)
               |           | endtask
    r(z)>b     |           |
    br(b)      |           |
    endtask    |           |
    => unserializable-tasks observed: T1 take(x,2), T3 alive(x,0), T3 w(z), T1 r(z)>b
  )");
}

// What a task takes and drops is nothing to who looks meanwhile, or when it was the last one.
TEST(NdseqPointers, BorrowedPointersDoNotCount) {
  expect_table("ndseq", R"(
    T1         | T2
    task(1)    |
    take(x,2)  |
               | task(2)
               | alive(x,2)
               | take(x,3)
    alive(x,3) |
    drop(x,2)  |
               | alive(x,2)
               | drop(x,1)
               | endtask
    endtask    |
    => clean
  )");
  expect_table("ndseq", R"(
    T1         | T2         | T3
    task(1)    |            |
    take(x,2)  |            |
    w(y)       |            |
               | task(2)    |
               | r(y)>a     |
               | br(a)      |
               | alive(x,2) |
               | endtask    |
               |            | task(3)
               |            | drop(x,1)
               |            | endtask
    drop(x,0)  |            |
    endtask    |            |
    => clean
  )");
}

// T3 finds the object alive by T1's pointer alone, which T1 drops: before T1 or after it there is none.
TEST(NdseqPointers, AliveByBorrowedPointersAlone) {
  const auto table = [](const char* in_the_end, const char* verdict) {
    return fmt::format(R"(
    T1         | T2        | T3
    task(1)    |           |
    alive(x,1) |           |
    take(x,2)  |           |
               | task(2)   |
               | drop(x,1) |
               | endtask   |
               |           | task(3)
               |           | alive(x,1)
               |           | endtask
    {:<10} |           |
    endtask    |           |
    => {}
  )",
                       in_the_end, verdict);
  };
  expect_table("ndseq", table("drop(x,0)",
                              "unserializable-tasks observed: T1 alive(x,1), T2 drop(x,1), T3 alive(x,1), "
                              "T1 drop(x,0)"));
  expect_table("ndseq", table("r(z)>a", "clean"));  // it keeps it
}

// The pointer that the task around them has borrowed is there for both, before and after.
TEST(NdseqPointers, AliveByWhatTheTaskAroundHasBorrowed) {
  expect_table("ndseq", R"(
    T1         | T2
    task(A)    |
    take(x,2)  |
    drop(x,1)  |
    take(x,2)  |
    fork(T2)   |
               | task(B)
               | alive(x,2)
               | take(x,3)
    task(C)    |
    alive(x,3) |
    take(x,4)  |
               | drop(x,3)
               | alive(x,3)
               | endtask
    drop(x,2)  |
    alive(x,2) |
    endtask    |
    drop(x,1)  |
    endtask    |
    => clean
  )");
}

// What a part of a task takes, a later part does not give back: others come in between.
TEST(NdseqPointers, BorrowedPointersEndAtBarriers) {
  expect_table("ndseq", R"(
    T1         | T2        | T3
    task(1)    |           |
               | task(2)   |
               |           | task(3)
    take(x,2)  |           |
    arrive(b)  |           |
               | arrive(b) |
               |           | arrive(b)
    leave(b)   |           |
               | leave(b)  |
               |           | leave(b)
               | drop(x,1) |
               |           | alive(x,1)
               |           | w(z)
    drop(x,0)  |           |
    r(z)>a     |           |
    br(a)      |           |
    endtask    |           |
               | endtask   |
               |           | endtask
    => clean
  )");
}

}  // namespace
}  // namespace heddle::test
