// robustness: operations whose outcome store buffers can change. Times run downward; a row is an event as the
// program issued it. litmus_test.cpp has the classical shapes.
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

// With S2's event graph as validity relation this is reported: B's reads in order say that x was written
// before y, C's that y was before x. But x is committed before B reads it and so before C does.
TEST(Robustness, CommitsAreSeenByAllAtOnce) {
  expect_table("robustness", R"(
    A    | B    | C
    w(x) |      |
         | r(x) |
         | r(y) |
         |      | w(y)
         |      | r(x)
    => clean
  )");
}

// Three threads, each write passed by the next read.
TEST(Robustness, LongerCycle) {
  expect_table("robustness", R"(
    A    | B    | C
    w(x) |      |
         | w(y) |
         |      | w(z)
    r(y) |      |
         | r(z) |
         |      | r(x)
    => not-robust predicted: A w(x), A r(y), B w(y), B r(z), C w(z), C r(x)
  )");
}

TEST(Robustness, ObservedInAnExecution) {
  expect_table("robustness", R"(
    A         | B
    w(x)      |
    r(y)      |
              | w(y)
              | r(x)
    commit(x) |
              | commit(y)
    => not-robust observed: A w(x), A r(y), B w(y), B r(x)
  )");
  expect_table("robustness", R"(
    A         | B
    w(x)      |
    r(y)      |
              | w(y)
    commit(x) |
              | r(x)
              | commit(y)
    => clean
  )");
}

// Dekker's protocol with the flags in one order of program and the data after: the fences belong between.
TEST(Robustness, Dekker) {
  expect_table("robustness", R"(
    A                  | B
    aw(one,relaxed)    |
    fence              |
                       | aw(two,relaxed)
                       | fence
    ar(two,relaxed)    |
                       | ar(one,relaxed)
    r(x)               |
    w(x)               |
    => clean
  )");
  expect_table("robustness", R"(
    A                  | B
    aw(one,relaxed)    |
    fence(acq_rel)     |
                       | aw(two,relaxed)
                       | fence(acq_rel)
    ar(two,relaxed)    |
                       | ar(one,relaxed)
    => not-robust predicted: A aw(one,relaxed), A ar(two,relaxed), B aw(two,relaxed), B ar(one,relaxed)
  )");
}

// A thread's end drains, and so does what starts one.
TEST(Robustness, ThreadLife) {
  expect_table("robustness", R"(
    A       | B
    w(x)    |
    r(y)    |
    stop    |
            | w(y)
            | r(x)
    => clean
  )");
  expect_table("robustness", R"(
    A       | B    | C
    w(x)    |      |
    fork(C) |      |
    r(y)    |      |
            | w(y) |
            | r(x) |
    => clean
  )");
  expect_table("robustness", R"(
    A    | B    | C
    w(x) |      |
    r(y) |      |
         |      | join(A)
         | w(y) |
         | r(x) |
    => clean
  )");
}

}  // namespace
}  // namespace heddle::test
