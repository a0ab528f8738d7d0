#include <gtest/gtest.h>

#include "core/finding.h"

namespace heddle {
namespace {

constexpr Rule kRule{"HD9999", "test-rule", "test", "A rule for tests."};

// Findings with the same steps, and so the same fingerprint, but for their events.
Finding finding(Strength strength, EventIndex event, const std::string& text) {
  Finding result;
  result.rule = &kRule;
  result.strength = strength;
  result.message = "message of " + text;
  Step step;
  step.event = event;
  step.thread = "T" + text;
  step.operation = "acq(a)";
  result.steps.push_back(step);
  result.conclusion = "conclusion of " + text;
  result.advice = "advice of " + text;
  result.input = "input of " + text;
  return result;
}

void expect_whole(const Finding& kept, Strength strength, EventIndex event, const std::string& text) {
  const Finding expected = finding(strength, event, text);
  EXPECT_EQ(kept.strength, strength);
  EXPECT_EQ(kept.message, expected.message);
  EXPECT_EQ(kept.steps.at(0).event, event);
  EXPECT_EQ(kept.threads, std::vector<std::string>{"T" + text});
  EXPECT_EQ(kept.conclusion, expected.conclusion);
  EXPECT_EQ(kept.advice, expected.advice);
  EXPECT_EQ(kept.input, expected.input);
}

// Whatever the order in which they come, the strongest is told, as a whole, and all are counted.
TEST(Findings, TheStrongestOfEqualOnesIsKept) {
  Findings findings;
  const std::size_t handle = findings.add(finding(Strength::kPotential, 1, "one"));
  EXPECT_EQ(findings.add(finding(Strength::kObserved, 2, "two")), handle);
  EXPECT_EQ(findings.add(finding(Strength::kPredicted, 3, "three")), handle);
  ASSERT_EQ(findings.list().size(), 1U);
  expect_whole(findings.list()[0], Strength::kObserved, 2, "two");
  EXPECT_EQ(findings.list()[0].count, 3U);
}

TEST(Findings, TheFirstOfEquallyStrongOnesIsKept) {
  Findings findings;
  Finding often = finding(Strength::kPredicted, 1, "one");
  often.count = 5;
  findings.add(often);
  findings.add(finding(Strength::kPredicted, 2, "two"));
  ASSERT_EQ(findings.list().size(), 1U);
  expect_whole(findings.list()[0], Strength::kPredicted, 1, "one");
  EXPECT_EQ(findings.list()[0].count, 6U);
}

// How deep a function has called itself tells no two findings apart; where it did the thing does.
TEST(Findings, RecursionDoesNotTellFindingsApart) {
  const auto fingerprint = [](const std::vector<std::string>& frames) {
    Finding one = finding(Strength::kObserved, 1, "one");
    one.steps[0].frames = frames;
    return compute_fingerprint(one);
  };
  const std::string once = fingerprint({"a.cpp:5 in sort", "a.cpp:9 in main"});
  EXPECT_EQ(fingerprint({"a.cpp:5 in sort", "a.cpp:7 in sort", "a.cpp:9 in main"}), once);
  EXPECT_EQ(fingerprint({"a.cpp:5 in sort", "a.cpp:7 in sort", "a.cpp:8 in sort", "a.cpp:9 in main"}), once);
  EXPECT_NE(fingerprint({"a.cpp:6 in sort", "a.cpp:9 in main"}), once);
  EXPECT_NE(fingerprint({"a.cpp:5 in sort", "a.cpp:7 in split", "a.cpp:9 in main"}), once);
  EXPECT_NE(fingerprint({"a.cpp:5", "a.cpp:6"}), fingerprint({"a.cpp:5"}));
}

}  // namespace
}  // namespace heddle
