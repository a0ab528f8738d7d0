// S3's Theorem 1 as a law: a parallel execution that ndseq accepts has a sequential execution of the
// specification with the same values in the focus variables. More than that: the one that ndseq names is such
// an execution.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "small_language.h"
#include "support/sequential_run.h"

namespace heddle::test {
namespace {

using oracle::Globals;
using oracle::LanguageShape;
using oracle::Program;

std::vector<uint8_t> any_bytes(int size) {
  return *rc::gen::container<std::vector<uint8_t>>(
      static_cast<std::size_t>(size), rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint8_t>()));
}

void expect_theorem(const LanguageShape& shape, int size) {
  const Program program = oracle::make_program(any_bytes(size), shape);
  RC_LOG() << oracle::to_text(program);
  const oracle::ParallelRun parallel = oracle::run_in_parallel(program, any_bytes(200));
  RC_LOG() << parallel.trace;
  const NdseqResult result = check_ndseq(parallel.trace);
  const SequentialRun& run = result.coverage.sequential_run.value();
  const bool accepted = result.findings.empty();
  RC_ASSERT(accepted == run.is_found);
  RC_TAG(fmt::format("{}{}{}", accepted ? "accepted" : "rejected",
                     run.conflict_warnings > 0 ? ", conflict cycle" : "",
                     accepted && !run.skipped.empty() ? ", if (true*) left out" : ""));
  if (!accepted) return;
  std::map<std::string, std::size_t> order;
  for (const SequentialRun::Place& place : run.order) order.emplace(place.task, order.size());
  std::set<std::string> skipped;
  for (const Step& step : run.skipped) skipped.insert(step.frames.front());
  const Globals globals = oracle::run_sequentially(program, order, skipped);
  for (unsigned g = 0; g < oracle::kGlobals; ++g) {
    if (!program.focus[g] || globals[g] == parallel.globals[g]) continue;
    RC_LOG() << fmt::format("g{} is {} in parallel, {} in the sequential run named; {}", g,
                            parallel.globals[g], globals[g],
                            oracle::some_sequential_run_ends_with(program, parallel.globals, 100'000)
                                ? "another sequential run may do"
                                : "no sequential run gives it");
    RC_FAIL("the sequential run has another outcome");
  }
}

RC_GTEST_PROP(NdseqTheorem, Flat, ()) {
  expect_theorem({.globals = 2, .children = 3, .deepest = 1, .length = 7, .phases = false}, 120);
}
RC_GTEST_PROP(NdseqTheorem, Nested, ()) {
  expect_theorem({.globals = 2, .children = 2, .deepest = 3, .length = 6, .phases = false}, 160);
}
RC_GTEST_PROP(NdseqTheorem, Phases, ()) { expect_theorem({.children = 3, .deepest = 2, .length = 6}, 160); }
RC_GTEST_PROP(NdseqTheorem, WithoutPatterns, ()) {
  expect_theorem({.globals = 2, .length = 8, .patterns = false}, 140);
}
RC_GTEST_PROP(NdseqTheorem, OneGlobal, ()) {
  expect_theorem({.globals = 1, .children = 3, .deepest = 1, .length = 7, .phases = false, .patterns = false},
                 120);
}
RC_GTEST_PROP(NdseqTheorem, Pointers, ()) {
  expect_theorem({.globals = 1,
                  .children = 3,
                  .deepest = 1,
                  .length = 3,
                  .phases = false,
                  .patterns = false,
                  .pointers = true},
                 90);
}
RC_GTEST_PROP(NdseqTheorem, PointersAndPhases, ()) {
  expect_theorem(
      {.globals = 1, .children = 3, .deepest = 2, .length = 5, .patterns = false, .pointers = true}, 140);
}

}  // namespace
}  // namespace heddle::test
