// Suppression files: what they match, what they refuse, and what is said about stale ones.
#include "report/suppressions.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "report/glob.h"

namespace heddle {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr Rule kRace{"HD1001", "data-race", "data race", "Two accesses without order"};
constexpr Rule kCycle{"HD1101", "lock-order-cycle", "lock order cycle", "Locks in two orders"};
constexpr const Rule* kRules[] = {&kRace, &kCycle};
constexpr year_month_day kToday{year(2026), month(6), day(15)};

Step step(std::string operation, std::vector<std::string> frames, std::string block = "") {
  Step step;
  step.thread = "T1";
  step.operation = std::move(operation);
  step.frames = std::move(frames);
  step.block = std::move(block);
  return step;
}

Finding race(std::vector<Step> steps) {
  Finding finding;
  finding.rule = &kRace;
  finding.message = "balance is written by T2 and read by T1";
  finding.steps = std::move(steps);
  return finding;
}

Finding bank_race() {
  return race({step("r(balance)", {"/src/bank.cpp:29:5 in Account::withdraw", "/src/main.cpp:7 in main"}),
               step("w(balance,5)", {"/src/bank.cpp:24 in Account::deposit"}, "Account::deposit_all")});
}

Suppressions parsed(std::string_view text) {
  Suppressions suppressions(kRules, kToday);
  suppressions.parse(text, "s.toml");
  return suppressions;
}

// Whether an entry for data races with these further lines takes the finding out.
bool suppresses(std::string_view lines, const Finding& finding) {
  Suppressions suppressions =
      parsed("[[suppress]]\nrule = 'HD1001'\nreason = 'known'\n" + std::string(lines) + "\n");
  return suppressions.find(finding) != nullptr;
}

std::string refusal(std::string_view text) {
  try {
    parsed(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("bank.cpp:*", "bank.cpp:29"));
  EXPECT_FALSE(glob_matches("bank.cpp:*", "tank.cpp:29"));
  EXPECT_TRUE(glob_matches("*a*b", "xaxbxb"));
  EXPECT_FALSE(glob_matches("*a*b", "xaxbx"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_FALSE(glob_matches("abc", "ab"));
}

TEST(Glob, AQuestionMarkIsOneCharacterNotOneByte) {
  EXPECT_TRUE(glob_matches("gr?ße", "größe"));
  EXPECT_FALSE(glob_matches("gr??ße", "größe"));
  EXPECT_FALSE(glob_matches("*??", "ö"));
  EXPECT_TRUE(glob_matches("?", "\xff"));
}

TEST(Glob, HostilePatternsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(10'000, 'a')));
}

TEST(Suppressions, TheRuleAloneIsEnough) {
  EXPECT_TRUE(suppresses("", bank_race()));
  Suppressions by_name = parsed("[[suppress]]\nrule = 'data-race'\nreason = 'known'");
  EXPECT_NE(by_name.find(bank_race()), nullptr);
  Suppressions other = parsed("[[suppress]]\nrule = 'HD1101'\nreason = 'known'");
  EXPECT_EQ(other.find(bank_race()), nullptr);
}

TEST(Suppressions, AFrameIsMatchedByPlaceFunctionOrBoth) {
  EXPECT_TRUE(suppresses("frames = ['bank.cpp:29']", bank_race()));
  EXPECT_TRUE(suppresses("frames = ['bank.cpp:29:5']", bank_race()));
  EXPECT_TRUE(suppresses("frames = ['src/bank.cpp:*']", bank_race()));
  EXPECT_TRUE(suppresses("frames = ['/src/bank.cpp:29:5 in Account::withdraw']", bank_race()));
  EXPECT_TRUE(suppresses("frames = ['bank.cpp:* in Account::withdraw']", bank_race()));
  EXPECT_TRUE(suppresses("frames = ['Account::*']", bank_race()));
  EXPECT_TRUE(suppresses("frames = ['main']", bank_race()));                  // a caller
  EXPECT_TRUE(suppresses("frames = ['Account::deposit_all']", bank_race()));  // a block
  EXPECT_FALSE(suppresses("frames = ['ank.cpp:29']", bank_race()));
  EXPECT_FALSE(suppresses("frames = ['bank.cpp:30']", bank_race()));
  EXPECT_FALSE(suppresses("frames = ['bank.cpp']", bank_race()));
}

TEST(Suppressions, EachPatternNeedsAStepOfItsOwn) {
  EXPECT_TRUE(suppresses("frames = ['*withdraw', '*deposit']", bank_race()));
  EXPECT_FALSE(suppresses("frames = ['*withdraw', '*withdraw']", bank_race()));
  EXPECT_FALSE(suppresses("frames = ['*', '*', '*']", bank_race()));
}

TEST(Suppressions, TheStepsMayBeginAnywhereButKeepTheirOrder) {
  EXPECT_TRUE(
      suppresses("frames = ['*deposit', '*withdraw']", bank_race()));  // the race seen the other way round
  const Finding three = race({step("r(x)", {"a"}), step("w(x)", {"b"}), step("w(x)", {"c"})});
  EXPECT_TRUE(suppresses("frames = ['a', 'b', 'c']", three));
  EXPECT_TRUE(suppresses("frames = ['b', 'c', 'a']", three));
  EXPECT_FALSE(suppresses("frames = ['a', 'c', 'b']", three));
}

TEST(Suppressions, VariableAndObject) {
  EXPECT_TRUE(suppresses("variable = 'bal*'", bank_race()));
  EXPECT_FALSE(suppresses("variable = 'mu'", bank_race()));
  const Finding with_lock = race({step("acq(mu)", {}), step("w(x)", {})});
  EXPECT_TRUE(suppresses("object = 'mu'", with_lock));
  EXPECT_FALSE(suppresses("variable = 'mu'", with_lock));
  EXPECT_FALSE(suppresses("object = 'balance,5'", bank_race()));  // a value is not part of the name
}

TEST(Suppressions, TheExpiryDayIsTheLastItAppliesOn) {
  EXPECT_TRUE(suppresses("expires = 2026-06-15", bank_race()));
  EXPECT_FALSE(suppresses("expires = 2026-06-14", bank_race()));
}

TEST(Suppressions, MovesFindingsAsideAndSaysWhatIsStale) {
  Suppressions suppressions = parsed(
      "[[suppress]]\nrule = 'HD1001'\nframes = ['*deposit']\nreason = 'a statistic'\n"
      "[[suppress]]\nrule = 'HD1001'\nframes = ['nowhere']\nreason = 'old'\n"
      "[[suppress]]\nrule = 'HD1001'\nreason = 'older'\nexpires = 2025-01-31\n"
      "[[suppress]]\nrule = 'HD1101'\nreason = 'its checker did not run'\n");
  RunReport report;
  report.rules = {{&kRace, ""}};
  report.findings = {bank_race(), race({step("w(y)", {"other.cpp:1"})})};
  apply_suppressions(suppressions, report);

  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].steps[0].operation, "w(y)");
  ASSERT_EQ(report.suppressed.size(), 1U);
  EXPECT_EQ(report.suppressed[0].reason, "a statistic");
  EXPECT_EQ(report.suppressed[0].where, "s.toml:1");
  EXPECT_EQ(report.notices,
            (std::vector<std::string>{
                "s.toml:5: the suppression of HD1001 matched no finding",
                "s.toml:9: the suppression of HD1001 expired on 2025-01-31 and no longer applies"}));
}

TEST(Suppressions, SeveralFilesAddUp) {
  Suppressions suppressions(kRules, kToday);
  suppressions.parse("", "empty.toml");
  suppressions.parse("[[suppress]]\nrule = 'HD1101'\nreason = 'x'", "a.toml");
  suppressions.parse("\n\n[[suppress]]\nrule = 'HD1001'\nreason = 'x'", "b.toml");
  const Suppression* found = suppressions.find(bank_race());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->where, "b.toml:3");
}

TEST(Suppressions, RefusesWithFileLineAndColumn) {
  EXPECT_EQ(refusal("[[suppress]]\nrule = 'HD1001'\n"),
            "s.toml:1:1: this suppression has no reason, and needs one");
  EXPECT_EQ(refusal("[[suppress]]\nreason = 'x'\n"),
            "s.toml:1:1: this suppression has no rule, and needs one");
  EXPECT_EQ(refusal("[[suppress]]\nrule = 'HD1001'\nreason = '  '\n"),
            "s.toml:3:10: reason must not be empty");
  EXPECT_EQ(refusal("[[suppress]]\nrule = 'HD1001'\nreason = 'x'\nframe = ['a']\n"),
            "s.toml:4:1: unknown key 'frame'; did you mean 'frames'?");
  EXPECT_EQ(
      refusal("[[suppress]]\nrule = 'HD1001'\nreason = 'x'\nzzzzzzzz = 1\n"),
      "s.toml:4:1: unknown key 'zzzzzzzz'; known are rule, frames, variable, object, reason and expires");
  EXPECT_EQ(refusal("[[suppress]]\nrule = 'data-rice'\nreason = 'x'\n"),
            "s.toml:2:8: there is no rule 'data-rice'; did you mean 'data-race'?");
  EXPECT_EQ(refusal("[[suppress]]\nrule = 1001\nreason = 'x'\n"),
            "s.toml:2:8: rule must be a text in quotes");
  EXPECT_EQ(refusal("[[suppress]]\nrule = 'HD1001'\nreason = 'x'\nframes = 'a'\n"),
            "s.toml:4:10: frames must be a list of patterns, such as [\"bank.cpp:*\"]");
  EXPECT_EQ(refusal("[[suppress]]\nrule = 'HD1001'\nreason = 'x'\nframes = ['a', 7]\n"),
            "s.toml:4:16: each pattern of frames must be a text in quotes");
  EXPECT_EQ(refusal("[[suppress]]\nrule = 'HD1001'\nreason = 'x'\nexpires = '2027-01-31'\n"),
            "s.toml:4:11: expires must be a date such as 2027-01-31, without quotes");
  EXPECT_EQ(refusal("[suppress]\nrule = 'HD1001'\nreason = 'x'\n"),
            "s.toml:1:1: a suppression begins with [[suppress]], in double brackets");
  EXPECT_EQ(refusal("suppress = [1]\n"),
            "s.toml:1:12: a suppression begins with [[suppress]], in double brackets");
  EXPECT_EQ(refusal("[[supress]]\n"),
            "s.toml:1:3: unknown key 'supress'; a suppression file holds [[suppress]] entries only");
  EXPECT_TRUE(refusal("[[suppress]]\nrule = \n").starts_with("s.toml:2:"))
      << refusal("[[suppress]]\nrule = \n");
  EXPECT_TRUE(refusal("\xff").starts_with("s.toml:1:")) << refusal("\xff");
}

TEST(Suppressions, AGeneratedEntryMatchesItsFindingAndAsksForAReason) {
  const Finding finding = bank_race();
  const std::string entry = generate_suppression(finding);
  EXPECT_EQ(entry,
            "# data race: balance is written by T2 and read by T1\n"
            "[[suppress]]\n"
            "rule = \"HD1001\"\n"
            "frames = [ \"bank.cpp:* in Account::withdraw\", \"bank.cpp:* in Account::deposit\" ]\n"
            "variable = \"balance\"\n"
            "reason = \"EDIT ME: why is this finding acceptable?\"\n");
  Suppressions suppressions = parsed(entry);
  EXPECT_NE(suppressions.find(finding), nullptr);
  const RuleHelp checked[] = {{&kRace, ""}};
  EXPECT_EQ(suppressions.notices(checked),
            std::vector<std::string>{
                "s.toml:2: the suppression of HD1001 has no reason yet, only the placeholder"});
}

TEST(Suppressions, AGeneratedEntrySurvivesHostileNamesAndNewAddresses) {
  const auto at = [](const std::string& address) {
    return race({step("w(heap@" + address + ")", {"a \"b\" \\ \xff\x1b ö'.cpp:3 in f\n"}),
                 step("r(heap@" + address + ")", {}, "block\t" + address),
                 step("r(heap@" + address + ")", {"42"})});
  };
  Suppressions suppressions = parsed(generate_suppression(at("0x7ffe1234")));
  EXPECT_NE(suppressions.find(at("0x7ffe1234")), nullptr);
  EXPECT_NE(suppressions.find(at("0x55d0")), nullptr);
  EXPECT_EQ(suppressions.find(bank_race()), nullptr);
}

}  // namespace
}  // namespace heddle
