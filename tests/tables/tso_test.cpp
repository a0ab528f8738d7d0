// tso: which blocks store buffers can break. Times run downward; a row is an event as the program issued it,
// a write reaches memory at some time after its row, or at its commit(…) where the trace has commits.
#include <gtest/gtest.h>

#include "checkers/registry.h"
#include "checkers/store_buffer/checker.h"
#include "checkers/tso.h"
#include "core/pipeline.h"
#include "support/table.h"
#include "trace/text_reader.h"

namespace heddle::test {
namespace {

// S2 Fig. 1: both ends of the pool move, both look before the other's move has reached memory, both take the
// same task. No interleaving does that.
TEST(Tso, TaskPool) {
  const char* pool = R"(
    A            | B
    begin(alpha) |
    r(head)      |
    w(head)      |
    end          |
                 | begin(delta)
                 | r(tail)
                 | w(tail)
                 | end
    begin(beta)  |
    r(head)      |
    r(tail)      |
                 | begin(gamma)
                 | r(head)
                 | r(tail)
    r(pool)      |
    w(pool)      |
    end          |
                 | r(pool)
                 | w(pool)
                 | end
  )";
  expect_table("atomicity", std::string(pool) + "=> clean");
  expect_table("tso", std::string(pool) + R"(
    => tso-violation predicted [gamma]: A w(pool), B w(pool), B r(pool)
  )");
}

// S2 Fig. 2 (a), commit by commit: the pool's writes are not even needed.
TEST(Tso, TaskPoolExecution) {
  expect_table("tso", R"(
    A            | B
    begin(alpha) |
    r(head)      |
    w(head)      |
    end          |
                 | begin(delta)
                 | r(tail)
                 | w(tail)
                 | end
    begin(beta)  |
    r(head)      |
    r(tail)      |
                 | begin(gamma)
                 | r(head)
    commit(head) |
                 | r(tail)
                 | commit(tail)
    r(pool)      |
    w(pool)      |
    commit(pool) |
    end          |
                 | r(pool)
                 | w(pool)
                 | end
                 | commit(pool)
    => tso-violation observed [gamma]: A w(head), A w(pool), B r(pool), B r(head)
  )");
}

TEST(Tso, TaskPoolWithTheOtherCommitsIsSerializable) {
  expect_table("tso", R"(
    A            | B
    begin(alpha) |
    r(head)      |
    w(head)      |
    commit(head) |
    end          |
                 | begin(delta)
                 | r(tail)
                 | w(tail)
                 | commit(tail)
                 | end
    begin(beta)  |
    r(head)      |
    r(tail)      |
                 | begin(gamma)
                 | r(head)
                 | r(tail)
    r(pool)      |
    w(pool)      |
    commit(pool) |
    end          |
                 | r(pool)
                 | w(pool)
                 | commit(pool)
                 | end
    => clean
  )");
}

// With tasks to spare the pool is no conflict; the two ends are. A fence after either move is enough for this
// order of operations.
TEST(Tso, TaskPoolWithTasksToSpare) {
  const char* moves = R"(
    A            | B
    begin(alpha) |
    r(head)      |
    w(head)      |
    end          |
                 | begin(delta)
                 | r(tail)
                 | w(tail)
                 | end
    begin(beta)  |
    r(head)      |
    r(tail)      |
                 | begin(gamma)
                 | r(head)
                 | r(tail)
    r(pool1)     |
    w(pool1)     |
    end          |
                 | r(pool2)
                 | w(pool2)
                 | end
  )";
  expect_table("tso", std::string(moves) +
                          "=> tso-violation predicted [beta, delta]: A w(head), A r(head), A r(tail), B "
                          "w(tail), B r(tail), B r(head)");
  for (const char* fenced : {"w(head)", "w(tail)"}) {
    const Table table = parse_table(moves);
    std::string trace = table.trace;
    const std::size_t at = trace.find('\n', trace.find(fenced)) + 1;
    trace.insert(at, std::string(fenced) == "w(head)" ? "A|fence|new\n" : "B|fence|new\n");
    EXPECT_TRUE(check_text("tso", trace).empty()) << trace;
  }
}

// Beside S2 Thm 2, left: every event a transaction of its own. Not robust, but there is nothing to break.
TEST(Tso, SingleOperationsOfAThreadNeedNoOrder) {
  const char* buffering = R"(
    A    | B
    w(x) |
         | w(y)
    r(y) |
         | r(x)
  )";
  expect_table("tso", std::string(buffering) + "=> clean");
  expect_table("robustness",
               std::string(buffering) + "=> not-robust predicted: A w(x), A r(y), B w(y), B r(x)");
}

// Beside S2 Thm 2, right: A's two operations lie between those of B's block and are in no order under TSO.
TEST(Tso, SerializableThoughNotWithoutBuffers) {
  const char* between = R"(
    A    | B
         | begin(f)
         | r(x)
    w(x) |
    r(y) |
         | w(y)
         | end
  )";
  expect_table("atomicity",
               std::string(between) + "=> atomicity-violation observed [f]: B r(x), A w(x), A r(y), B w(y)");
  expect_table("tso", std::string(between) + "=> clean");
  expect_table("robustness", std::string(between) + "=> clean");
}

// A fence between the two puts them in order.
TEST(Tso, FencesOrderTheirThread) {
  expect_table("tso", R"(
    A     | B
          | begin(f)
          | r(x)
    w(x)  |
    fence |
    r(y)  |
          | w(y)
          | end
    => tso-violation predicted [f]: B r(x), A w(x), A fence, A r(y), B w(y)
  )");
}

// Where the event graph of S2 as validity relation reports too much (ALGORITHMS §5): in all of these every
// placement of the commits is serializable.

// The read is served by the buffer or comes after the own commit; either way B is on one side of A.
TEST(Tso, ReadServedByTheOwnBuffer) {
  expect_table("tso", R"(
    A     | B
    begin |
    w(x)  |
    r(x)  |
    end   |
          | w(x)
    => clean
  )");
}

// B's write cannot wait and be seen at the same time: A's read of y is after it was issued, B's after that.
TEST(Tso, WriteIsIssuedBeforeItsCommit) {
  expect_table("tso", R"(
    A     | B     | C
    begin |       |
    r(x)  |       |
          | begin |
          | w(x)  |
          |       | w(y)
    r(y)  |       |
    end   |       |
          | r(y)  |
          | end   |
    => clean
  )");
}

TEST(Tso, FenceKeepsBothWritesOfItsThread) {
  expect_table("tso", R"(
    A     | B     | C
    begin |       |
    w(x)  |       |
    w(z)  |       |
          | begin |
          | w(y)  |
          | w(x)  |
          | end   |
    fence |       |
    end   |       |
          |       | begin
          |       | r(y)
          |       | r(z)
          |       | end
    => clean
  )");
}

// Thm 3 speaks of programs: this trace is fenced, robust and serializable without buffers.
TEST(Tso, FencedTraceIsNotClearedByRobustnessAndAtomicity) {
  const char* fenced = R"(
    A        | B
    begin(f) |
    w(x)     |
             | begin(g)
             | w(x)
             | w(x)
    fence    |
    end      |
             | fence
             | end
  )";
  expect_table("atomicity", std::string(fenced) + "=> clean");
  expect_table("robustness", std::string(fenced) + "=> clean");
  expect_table("tso", std::string(fenced) + "=> tso-violation predicted [g]: A w(x), B w(x), B w(x)");
}

// What drains the buffer on x86, and what does not: with a drain after the write there is nothing to report.
TEST(Tso, WhatDrains) {
  const auto check = [](const std::string& between) {
    return check_text("tso", "A|begin(f)|1\nA|w(x)|2\n" + between +
                                 "A|r(y)|3\nA|end|4\nB|begin(g)|5\nB|w(y)|6\nB|r(x)|7\nB|end|8\n")
        .empty();
  };
  for (const char* drains :
       {"A|fence|\n", "A|fence(seq_cst)|\n", "A|armw(z,relaxed)|\n", "A|acasfail(z,relaxed)|\n",
        "A|aw(z,seq_cst)|\n", "A|acq(m)|\n", "A|acq_sh(m)|\n", "A|fork(C)|\n", "A|arrive(b)|\n",
        "A|post(s)|\n", "A|wait(s)|\n", "C|w(z)|\nA|join(C)|\n"})
    EXPECT_TRUE(check(drains)) << drains;
  for (const char* does_not :
       {"", "A|fence(acq_rel)|\n", "A|fence(release)|\n", "A|ar(z,seq_cst)|\n", "A|aw(z,release)|\n",
        "A|notify(c)|\n", "A|sync(s)|\n", "A|alloc(z)|\n", "A|free(z)|\n"})
    EXPECT_FALSE(check(does_not)) << does_not;
}

// A lock taken again by its holder is no locked instruction.
TEST(Tso, NestedLockDoesNotDrain) {
  expect_table("tso", R"(
    A        | B
    acq(m)   |
    begin(f) |
    w(x)     |
    acq(m)   |
    r(y)     |
    end      |
             | begin(g)
             | w(y)
             | r(x)
             | end
    => tso-violation predicted [g, f]: A r(y), B w(y), B r(x), A w(x)
  )");
}

TEST(Tso, UnlockDrains) {
  expect_table("tso", R"(
    A        | B
    begin(f) |
    acq(m)   |
    w(x)     |
    rel(m)   |
    end      |
             | begin(g)
             | acq(m)
             | r(x)
             | rel(m)
             | r(x)
             | end
    => clean
  )");
}

// The life of x ends before B's begins.
TEST(Tso, NewLifeIsNoConflict) {
  expect_table("tso", R"(
    A        | B
    begin(f) |
    w(x)     |
    r(y)     |
    end      |
             | free(x)
             | begin(g)
             | w(y)
             | r(x)
             | end
    => clean
  )");
}

TEST(Tso, TooLongToKeep) {
  TextReader reader("table", "A|w(x)|\nA|r(y)|\nA|r(z)|\nA|r(z)|\n");
  Findings findings;
  const CheckerOptions options;
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(store_buffer::make_checker({reader.names(), findings, options}, kTsoChecker.name,
                                                kTsoRules.front(), store_buffer::Question::kTransactions, 3));
  run_checkers(reader, checkers);
  EXPECT_TRUE(checkers.front()->coverage().undecided);
  EXPECT_EQ(checkers.front()->coverage().note,
            "the trace has more than 3 operations, which are not kept: check a part of it");
}

TEST(Tso, BudgetRunsOut) {
  const Table table = parse_table(R"(
    A     | B     | C
    begin |       |
    w(x)  |       |
    w(z)  |       |
          | begin |
          | w(y)  |
          | w(x)  |
          | end   |
    fence |       |
    end   |       |
          |       | begin
          |       | r(y)
          |       | r(z)
          |       | end
  )");
  TextReader reader("table", table.trace);
  Findings findings;
  const CheckerOptions options{.budget = 1};
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(select_checkers("tso").front()->make({reader.names(), findings, options}));
  run_checkers(reader, checkers);
  EXPECT_TRUE(findings.list().empty());
  EXPECT_TRUE(checkers.front()->coverage().undecided);
  EXPECT_EQ(checkers.front()->coverage().note,
            "1 group of operations, the largest of 3 nodes, was not searched to the end within 1 step; "
            "--budget allows more");
}

}  // namespace
}  // namespace heddle::test
