// ndseq: what threads do that are in none of the tasks that run meanwhile. Times run downward.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ndseq_table.h"

namespace heddle::test {
namespace {

// What a thread in no task does while tasks run has no place in their order, if it matters.
TEST(Ndseq, SaysWhoInterferesWithTasks) {
  const auto coverage = [](std::string_view before, std::string_view meanwhile, std::string_view after) {
    return ask(fmt::format(R"(
    T1       | T2
    {}       |
    task(A)  |
    acq(m)   |
    w(x)     |
    rel(m)   |
             | acq(m)
             | {}
             | rel(m)
    acq(m)   |
    r(x)     |
    rel(m)   |
    endtask  |
             | acq(m)
             | {}
             | rel(m)
    focus(x) |
    focus(y) |
  )",
                           before, meanwhile, after))
        .coverage;
  };
  const Coverage interfered = coverage("w(z)", "w(x)", "w(y)");
  EXPECT_TRUE(interfered.undecided);
  EXPECT_TRUE(interfered.sequential_run->is_found);
  EXPECT_NE(
      interfered.note.find("T2 wrote x at row 7, in none of the tasks that ran meanwhile, and T1 wrote x "
                           "at row 4 in A: what a thread does beside them has no place in their order"),
      std::string::npos)
      << interfered.note;
  EXPECT_FALSE(coverage("w(z)", "w(y)", "w(y)").undecided) << "nothing in common";
  EXPECT_FALSE(coverage("w(z)", "w(y)", "w(x)").undecided) << "the tasks are over";
}

// Two reads are in no conflict, and neither is what two count; and what does not matter is none that matters.
TEST(Ndseq, WhatDoesNotConflictOrMatterDoesNotInterfere) {
  const auto is_undecided = [](std::string_view inside, std::string_view beside) {
    return ask(fmt::format(R"(
    T1       | T2
    w(x)     |
    fork(T2) |
    task(A)  |
    acq(m)   |
    {}       |
    rel(m)   |
             | acq(m)
             | {}
             | rel(m)
    endtask  |
    join(T2) |
    focus(x) |
  )",
                           inside, beside))
        .coverage.undecided;
  };
  EXPECT_FALSE(is_undecided("r(x)", "r(x)"));
  EXPECT_FALSE(is_undecided("count(x)", "count(x)"));
  // What is read here is used nowhere.
  EXPECT_FALSE(is_undecided("w(x)", "r(x)>l"));
  EXPECT_FALSE(is_undecided("r(x)>l", "w(x)"));
  EXPECT_TRUE(is_undecided("count(x)", "r(x)"));
  EXPECT_TRUE(is_undecided("r(x)", "count(x)"));
  EXPECT_TRUE(is_undecided("r(x)", "w(x)"));
}

// … but a thread that the task has started is in it.
TEST(Ndseq, ThreadsOfTasksDoNotInterfere) {
  EXPECT_FALSE(ask(R"(
    T1       | T2
    task(A)  |
    w(x)     |
    fork(T2) |
             | w(x)
    join(T2) |
    r(x)     |
    endtask  |
    focus(x) |
  )")
                   .coverage.undecided);
  // Nor does what one task does beside another; that is what their order is about.
  EXPECT_FALSE(ask(R"(
    T1       | T2
    task(A)  |
             | task(B)
    acq(m)   |
    w(x)     |
    rel(m)   |
             | acq(m)
             | w(x)
             | rel(m)
    endtask  |
             | endtask
    focus(x) |
  )")
                   .coverage.undecided);
}

}  // namespace
}  // namespace heddle::test
