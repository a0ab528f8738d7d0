// What a running program is told of a block that was interrupted, when only the last events are still known.
#include <gtest/gtest.h>

#include <string>

#include "checkers/atomicity.h"
#include "core/pipeline.h"
#include "trace/text_reader.h"

namespace heddle {
namespace {

constexpr std::size_t kKept = 64;  // events

// T1 reads x in a block and writes it there; T2 writes x in between, and does so much else.
std::string interrupted(std::size_t other_events) {
  std::string trace = "T1|begin(take)|a:1\nT1|r(x)|a:2\nT2|w(x)|a:3\n";
  for (std::size_t i = 0; i < other_events; ++i) trace += "T2|w(y)|a:4\n";
  return trace + "T1|w(x)|a:5\nT1|end|a:6\n";
}

// A few events at a time, as they come from a program.
class Told : public TraceSource {
 public:
  explicit Told(const std::string& trace) : reader_("told", trace) {}
  EventBatch next() override {
    if (rest_.empty()) rest_ = reader_.next();
    const std::size_t count = std::min<std::size_t>(8, rest_.events.size());
    const EventBatch batch{rest_.first, rest_.events.first(count)};
    rest_ = {rest_.first + count, rest_.events.subspan(count)};
    return batch;
  }
  const Names& names() const override { return reader_.names(); }
  std::string where(EventIndex index) const override { return reader_.where(index); }

 private:
  TextReader reader_;
  EventBatch rest_;
};

std::vector<Finding> check(const std::string& trace) {
  Told told(trace);
  Findings findings;
  const CheckerOptions options{.recent_events = kKept};
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(
      kAtomicityChecker.make({told.names(), findings, options, false, /*is_live=*/true, nullptr}));
  run_checkers(told, checkers);
  return findings.list();
}

bool has_story(const Finding& finding) { return finding.steps.size() == 3 && finding.blocks.size() == 1; }

TEST(LiveExplanation, TellsTheStoryWhileItIsKnown) {
  const std::vector<Finding> findings = check(interrupted(kKept / 2));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(has_story(findings[0]));
}

TEST(LiveExplanation, SaysThatTheStoryBeganTooLongAgo) {
  const std::vector<Finding> findings = check(interrupted(10 * kKept));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_FALSE(has_story(findings[0]));
  EXPECT_NE(findings[0].conclusion.find("too long ago"), std::string::npos) << findings[0].conclusion;
}

TEST(LiveExplanation, WaitsForAnInterruptionThatItCanExplain) {
  std::string trace;
  for (int i = 0; i < 20; ++i) trace += interrupted(10 * kKept);
  const std::vector<Finding> findings = check(trace + interrupted(kKept / 2) + interrupted(10 * kKept));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(has_story(findings[0]));
}

}  // namespace
}  // namespace heddle
