// How long blocks and locks around steps lasted, from a second reading of the trace.
#include "core/annotate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/text_reader.h"

namespace heddle {
namespace {

Finding finding_of(const std::vector<std::pair<EventIndex, std::string>>& steps) {
  Finding finding;
  for (const auto& [event, thread] : steps) {
    Step step;
    step.event = event;
    step.thread = thread;
    finding.steps.push_back(step);
  }
  return finding;
}

std::vector<std::string> spans_of(const std::string& trace, Finding& finding) {
  TextReader reader("trace", trace);
  annotate_spans({&finding, 1}, reader);
  std::vector<std::string> result;
  for (const Span& span : finding.spans)
    result.push_back(fmt::format("{} {} {} {}-{}{}", span.thread, to_string(span.kind), span.name, span.from,
                                 span.to, span.is_open ? "…" : ""));
  return result;
}

using Texts = std::vector<std::string>;

TEST(Spans, CoverTheStepsThatLieInThem) {
  const std::string trace =
      "T1|begin(f)|\n"  // 0
      "T1|acq(m)|\n"
      "T1|r(x)|\n"  // 2
      "T1|rel(m)|\n"
      "T2|w(x)|\n"
      "T1|acq(n)|\n"  // holds no step
      "T1|rel(n)|\n"
      "T1|acq(m)|\n"
      "T1|w(x)|\n"  // 8
      "T1|rel(m)|\n"
      "T1|end(f)|\n"
      "T1|r(y)|\n";
  Finding finding = finding_of({{2, "T1"}, {4, "T2"}, {8, "T1"}});
  EXPECT_EQ(spans_of(trace, finding), (Texts{"T1 block f 0-10", "T1 lock m 1-3", "T1 lock m 7-9"}));
  EXPECT_EQ(finding.steps[0].block, "f");
  EXPECT_EQ(finding.steps[1].block, "");
}

TEST(Spans, AreOpenWhereTheTraceEndsFirst) {
  Finding finding = finding_of({{2, "T1"}, {3, "T1"}});
  EXPECT_EQ(spans_of("T1|begin(f)|\nT1|acq_sh(m)|\nT1|r(x)|\nT1|w(x)|\nT1|r(y)|\n", finding),
            (Texts{"T1 block f 0-3…", "T1 shared lock m 1-3…"}));
}

TEST(Spans, LastUntilARecursiveLockIsGivenBackForTheLastTime) {
  Finding finding = finding_of({{3, "T1"}});
  EXPECT_EQ(spans_of("T1|acq(m)|\nT1|acq(m)|\nT1|rel(m)|\nT1|r(x)|\nT1|rel(m)|\nT1|r(x)|\n", finding),
            (Texts{"T1 lock m 0-4"}));
}

TEST(Spans, ContainTheStepsThatBeginAndEndThem) {
  Finding finding = finding_of({{0, "T1"}, {2, "T1"}});
  EXPECT_EQ(spans_of("T1|acq(m)|\nT1|acq(n)|\nT1|rel(m)|\nT1|rel(n)|\n", finding),
            (Texts{"T1 lock m 0-2", "T1 lock n 1-3"}));
}

TEST(Spans, KeepTheBlockThatACheckerTold) {
  Finding finding = finding_of({{1, "T1"}});
  finding.steps[0].block = "told";
  finding.steps[0].block_is_known = true;
  spans_of("T1|begin(f)|\nT1|r(x)|\nT1|end(f)|\n", finding);
  EXPECT_EQ(finding.steps[0].block, "told");
}

TEST(Spans, HoldTheThreadsThatADeterministicBlockAdopts) {
  Finding finding = finding_of({{3, "T2"}, {8, "T3"}});
  EXPECT_EQ(spans_of("T1|begin(sort,deterministic)|\nT1|begin(part)|\nT1|fork(T2)|\nT2|w(x)|\nT1|join(T2)|\n"
                     "T1|end(part)|\nT1|end(sort)|\nT1|fork(T3)|\nT3|w(x)|\n",
                     finding),
            (Texts{"T2 block sort 2-4"}));
  EXPECT_EQ(finding.steps[0].block, "sort");
  EXPECT_EQ(finding.steps[1].block, "");
}

TEST(Spans, TellTasksApartFromBlocks) {
  Finding finding = finding_of({{2, "T1"}, {4, "T2"}});
  EXPECT_EQ(
      spans_of("T1|task(i=1)|\nT1|begin(f)|\nT1|w(x)|\nT1|fork(T2)|\nT2|w(x)|\nT1|end(f)|\nT1|endtask|\n"
               "T1|join(T2)|\n",
               finding),
      (Texts{"T1 task i=1 0-6", "T1 block f 1-5", "T2 task i=1 3-7"}));
  EXPECT_EQ(finding.steps[0].block, "f");
  EXPECT_EQ(finding.steps[1].block, "");
}

}  // namespace
}  // namespace heddle
