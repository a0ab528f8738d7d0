// Suppression files: what they match, what they refuse, and what is said about stale ones.
#include "report/suppressions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "report/glob.h"
#include "report/suppression_match.h"

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

TEST(Suppressions, TheOrderOfTheStepsDoesNotMatter) {
  EXPECT_TRUE(
      suppresses("frames = ['*deposit', '*withdraw']", bank_race()));  // the race seen the other way round
  const Finding three = race({step("r(x)", {"a"}), step("w(x)", {"b"}), step("w(x)", {"c"})});
  for (const char* frames :
       {"'a', 'b', 'c'", "'b', 'c', 'a'", "'a', 'c', 'b'", "'c', 'a'", "'?', '?', 'a'", "'*', 'a', 'b'"})
    EXPECT_TRUE(suppresses(std::string("frames = [") + frames + "]", three)) << frames;
  EXPECT_FALSE(suppresses("frames = ['a', 'a', 'b']", three));
  EXPECT_FALSE(suppresses("frames = ['?', 'a', 'a']", three));
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
  const std::string entry = generate_suppressions({finding});
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
  Suppressions suppressions = parsed(generate_suppressions({at("0x7ffe1234")}));
  EXPECT_NE(suppressions.find(at("0x7ffe1234")), nullptr);
  EXPECT_NE(suppressions.find(at("0x55d0")), nullptr);
  EXPECT_EQ(suppressions.find(bank_race()), nullptr);
}

TEST(Suppressions, AGeneratedEntrySurvivesWhatFingerprintsLeaveOut) {
  const auto in_element = [](const std::string& index) {
    return race(
        {step("w(x[" + index + "].a)", {"a.cpp:1 in f"}), step("r(x[" + index + "].a)", {"a.cpp:2 in g"})});
  };
  EXPECT_EQ(compute_fingerprint(in_element("1")), compute_fingerprint(in_element("17")));
  Suppressions suppressions = parsed(generate_suppressions({in_element("1")}));
  EXPECT_NE(suppressions.find(in_element("17")), nullptr);

  Finding circle =
      race({step("acq(a)", {"a.cpp:1"}), step("acq(b)", {"a.cpp:2"}), step("acq(c)", {"a.cpp:3"})});
  Suppressions of_circle = parsed(generate_suppressions({circle}));
  std::swap(circle.steps[1], circle.steps[2]);
  EXPECT_NE(of_circle.find(circle), nullptr);
}

TEST(Suppressions, AFunctionWithoutSourceIsKnownByItsNameAndNotByItsLibrary) {
  const auto in_library = [](const std::string& function) {
    return race({step("w(x)", {"in " + function + " (libbank.so)"}), step("r(x)", {"a.cpp:2 in g"})});
  };
  EXPECT_TRUE(suppresses("frames = ['bank::f']", in_library("bank::f")));
  Suppressions suppressions = parsed(generate_suppressions({in_library("bank::f")}));
  EXPECT_NE(suppressions.find(in_library("bank::f")), nullptr);
  EXPECT_EQ(suppressions.find(in_library("bank::h")), nullptr);
}

TEST(Suppressions, EqualEntriesAreGeneratedOnce) {
  const auto count = [](const std::vector<Finding>& findings) {
    const std::string text = generate_suppressions(findings);
    std::size_t entries = 0;
    for (std::size_t at = 0; (at = text.find("[[suppress]]", at)) != std::string::npos; ++at) ++entries;
    return entries;
  };
  const auto lines = [](const std::string& first, const std::string& second) {
    return race({step("w(x)", {"a.cpp:" + first + " in f"}), step("w(x)", {"a.cpp:" + second + " in g"})});
  };
  EXPECT_EQ(count({lines("1", "2"), lines("3", "4"), lines("1", "4")}), 1U);
  Finding turned = lines("1", "2");
  std::swap(turned.steps[0], turned.steps[1]);
  EXPECT_EQ(count({lines("1", "2"), turned}), 1U);
  EXPECT_EQ(count({lines("1", "2"), bank_race()}), 2U);
}

TEST(Suppressions, AGeneratedEntryIsNeverForAllOfARule) {
  Suppressions suppressions = parsed(generate_suppressions({race({step("acq(a)", {}), step("acq(b)", {})})}));
  EXPECT_NE(suppressions.find(race({step("acq(b)", {}), step("acq(a)", {})})), nullptr);
  EXPECT_EQ(suppressions.find(race({step("acq(c)", {}), step("acq(d)", {})})), nullptr);
}

// The index may offer too much, never too little: the first entry found is the first that matches.
TEST(Suppressions, TheIndexFindsWhatTryingAllEntriesFinds) {
  std::mt19937 random(1);
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(*(choices.begin() + random() % choices.size()));
  };
  const auto file = [&] {
    return pick({"a.cpp", "src/a.cpp", "/home/me/src/a.cpp", "long_name_of_a_file.cpp"});
  };
  const auto function = [&] { return pick({"f", "g", "Account::withdraw(int)", "Account::deposit(int)"}); };
  const auto line = [&] { return pick({":1", ":2", ":12", ":12:3"}); };
  const auto name = [&] { return pick({"x", "y", "balance", "balance[1]"}); };
  const auto wild = [&](std::string text) {
    for (std::size_t i = random() % 3; i > 0; --i)
      text.replace(random() % text.size(), random() % 6,
                   pick({"*", "?", "*", ""}) + (text.size() < 3 ? "*" : ""));
    return text.empty() ? std::string("*") : text;
  };
  const auto frame = [&] {
    switch (random() % 4) {
      case 0: return file() + line();
      case 1: return file() + line() + " in " + function();
      case 2: return function();
      default: return std::string("42");
    }
  };
  std::vector<Suppression> all;
  SuppressionIndex index;
  for (std::size_t i = 0; i < 300; ++i) {
    Suppression entry;
    entry.rule = random() % 2 == 0 ? "HD1001" : "HD1101";
    for (std::size_t f = random() % 3; f > 0; --f) entry.frames.push_back(wild(frame()));
    if (random() % 3 == 0) entry.variable = wild(name());
    if (random() % 3 == 0) entry.object = wild(name());
    index.add(entry, i);
    all.push_back(entry);
  }
  std::size_t found = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    std::vector<Step> steps;
    for (std::size_t s = 1 + random() % 3; s > 0; --s)
      steps.push_back(step(pick({"w", "r", "acq"}) + "(" + name() + ")", {frame(), frame()}, function()));
    const Finding finding = race(std::move(steps));
    const FindingTexts texts(finding);
    const std::vector<std::size_t> candidates = index.candidates(texts);
    for (std::size_t number = 0; number < all.size(); ++number) {
      if (!matches(all[number], texts)) continue;
      ++found;
      EXPECT_TRUE(std::binary_search(candidates.begin(), candidates.end(), number))
          << all[number].variable << ' ' << all[number].object << ' '
          << (all[number].frames.empty() ? "" : all[number].frames[0]);
    }
  }
  EXPECT_GT(found, 1000U);
}

}  // namespace
}  // namespace heddle
