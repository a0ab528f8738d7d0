// tso and robustness equal their definitions: on a trace they report something exactly when some placement of
// the commits has a cycle, on an execution exactly when that one has.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "random_execution.h"
#include "store_buffer_oracle.h"
#include "support/choices.h"
#include "support/read_events.h"
#include "support/real_steps.h"
#include "support/table.h"

namespace heddle::test {
namespace {

using oracle::Order;

// Most traces are as long as they may be; rapidcheck shrinks them all the same.
constexpr int kSize = 60;
constexpr std::size_t kMostChoices = 15;
constexpr std::size_t kMostFences = 4;  // that are proposed

// The findings, which are there exactly when `violated`.
std::vector<Finding> expect_verdict(std::string_view checker, const std::string& trace, bool violated,
                                    Strength strength) {
  RC_LOG() << checker << "\n";
  const std::vector<Finding> findings = check_text(checker, trace);
  RC_ASSERT(findings.empty() == !violated);
  for (const Finding& finding : findings) {
    RC_ASSERT(finding.strength == strength);
    expect_real_steps(trace, finding);
  }
  return findings;
}

// The trace with a fence after each of these events.
std::vector<Event> with_fences(const std::string& trace, const std::vector<EventIndex>& after) {
  std::string fenced;
  std::size_t i = 0;
  for (const std::string_view line : split(trace, "\n")) {
    if (line.empty()) continue;
    fenced += std::string(line) + "\n";
    if (std::find(after.begin(), after.end(), i++) != after.end())
      fenced += std::string(line.substr(0, line.find('|'))) + "|fence|\n";
  }
  return read_events(fenced);
}

// Whether fences after `count` of these events, besides `chosen`, leave no cycle.
bool is_repaired_by(const std::string& trace, const std::vector<EventIndex>& writes, std::size_t count,
                    std::vector<EventIndex>& chosen, Order order) {
  if (count == 0) return !oracle::find_violation(with_fences(trace, chosen), order);
  for (const EventIndex write : writes) {
    if (!chosen.empty() && write <= chosen.back()) continue;
    chosen.push_back(write);
    if (is_repaired_by(trace, writes, count - 1, chosen, order)) return true;
    chosen.pop_back();
  }
  return false;
}

// No placement of the commits has a cycle once there are fences after the places that the findings name, and
// no smaller number of fences after writes does it. Findings that need no write to wait are not to be
// repaired so.
void expect_repair(const std::string& trace, const std::vector<Finding>& findings, Order order) {
  const auto needs_no_delay = [](const Finding& finding) { return finding.delays.empty(); };
  if (findings.empty() || std::any_of(findings.begin(), findings.end(), needs_no_delay)) return;
  std::vector<EventIndex> fences;
  for (const Step& step : findings.front().fences) fences.push_back(step.event);
  RC_TAG(fmt::format("repaired by {}", fences.size()));
  if (!fences.empty()) RC_ASSERT(!oracle::find_violation(with_fences(trace, fences), order));
  const std::vector<Event> events = read_events(trace);
  std::vector<EventIndex> writes;
  for (EventIndex i = 0; i < events.size(); ++i)
    if (oracle::is_buffered_write(events[i])) writes.push_back(i);
  std::vector<EventIndex> chosen;
  // Where fences put operations of a thread in order, they can break what they should repair.
  const std::size_t tried = fences.empty() ? writes.size() + 1 : fences.size();
  for (std::size_t fewer = 1; fewer < tried && fewer <= kMostFences; ++fewer)
    RC_ASSERT(!is_repaired_by(trace, writes, fewer, chosen, order));
}

std::string any_trace(const TraceShape& shape) {
  std::vector<Choice> choices = *rc::gen::resize(kSize, any_choices());
  if (choices.size() > kMostChoices) choices.resize(kMostChoices);
  return random_trace(choices, shape);
}

// Traces with more writes that are buffered have too many placements of their commits.
void check_trace_law(const TraceShape& shape, long most_writes) {
  const std::string trace = any_trace(shape);
  RC_LOG() << trace;
  const std::vector<Event> events = read_events(trace);
  RC_PRE(std::count_if(events.begin(), events.end(), oracle::is_buffered_write) <= most_writes);
  const bool broken = oracle::find_violation(events, Order::kTso).has_value();
  const bool reordered = oracle::find_violation(events, Order::kTsoAndPo).has_value();
  RC_TAG(fmt::format("{}, {}", broken ? "not serializable" : "serializable",
                     reordered ? "not robust" : "robust"));
  expect_repair(trace, expect_verdict("tso", trace, broken, Strength::kPredicted), Order::kTso);
  expect_repair(trace, expect_verdict("robustness", trace, reordered, Strength::kPredicted),
                Order::kTsoAndPo);
}

void check_execution_law(const TraceShape& shape) {
  const std::string trace = with_commits(any_trace(shape), *rc::gen::resize(kSize, any_choices()));
  RC_LOG() << trace;
  RC_PRE(trace.find("commit") != std::string::npos);
  const std::vector<Event> events = read_events(trace);
  const oracle::Execution execution = oracle::execution_of(events);
  const bool broken = oracle::has_cycle(events, execution, Order::kTso);
  const bool reordered = oracle::has_cycle(events, execution, Order::kTsoAndPo);
  RC_TAG(fmt::format("{}, {}", broken ? "not serializable" : "serializable",
                     reordered ? "not robust" : "robust"));
  expect_verdict("tso", trace, broken, Strength::kObserved);
  expect_verdict("robustness", trace, reordered, Strength::kObserved);
}

TraceShape paper_with(unsigned threads, unsigned variables, unsigned block_weight, unsigned fence_weight) {
  TraceShape shape = kPaperShape;
  shape.threads = threads;
  shape.variables = variables;
  shape.block_weight = block_weight;
  shape.blocks = block_weight > 0;
  shape.fence_weight = fence_weight;
  return shape;
}
const TraceShape kTwoVariables = paper_with(3, 2, 2, 2);
const TraceShape kManyThreads = paper_with(5, 4, 3, 0);
const TraceShape kNoBlocks = paper_with(4, 3, 0, 1);
constexpr TraceShape kAtomics = {.threads = 3,
                                 .variables = 3,
                                 .locks = 1,
                                 .barriers = 0,
                                 .semaphores = 0,
                                 .recursive_locks = false,
                                 .block_weight = 5,
                                 .deepest_block = 2,
                                 .fence_weight = 1};
constexpr TraceShape kEverything = {.threads = 4,
                                    .variables = 2,
                                    .locks = 1,
                                    .block_weight = 4,
                                    .deepest_block = 2,
                                    .deterministic_blocks = true,
                                    .fork_weight = 5,
                                    .stops = true};

RC_GTEST_PROP(StoreBufferTraceLaw, Paper, ()) { check_trace_law(kPaperShape, 5); }
RC_GTEST_PROP(StoreBufferTraceLaw, TwoVariables, ()) { check_trace_law(kTwoVariables, 5); }
RC_GTEST_PROP(StoreBufferTraceLaw, ManyThreads, ()) { check_trace_law(kManyThreads, 4); }
RC_GTEST_PROP(StoreBufferTraceLaw, NoBlocks, ()) { check_trace_law(kNoBlocks, 4); }
RC_GTEST_PROP(StoreBufferTraceLaw, Atomics, ()) { check_trace_law(kAtomics, 5); }
RC_GTEST_PROP(StoreBufferTraceLaw, Everything, ()) { check_trace_law(kEverything, 5); }

RC_GTEST_PROP(StoreBufferExecutionLaw, Paper, ()) { check_execution_law(kPaperShape); }
RC_GTEST_PROP(StoreBufferExecutionLaw, ManyThreads, ()) { check_execution_law(kManyThreads); }
RC_GTEST_PROP(StoreBufferExecutionLaw, NoBlocks, ()) { check_execution_law(kNoBlocks); }
RC_GTEST_PROP(StoreBufferExecutionLaw, Atomics, ()) { check_execution_law(kAtomics); }
RC_GTEST_PROP(StoreBufferExecutionLaw, Everything, ()) { check_execution_law(kEverything); }

}  // namespace
}  // namespace heddle::test
