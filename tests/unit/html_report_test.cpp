// The page holds the data as it is, whatever it is, and nothing in it can leave its element.
#include "report/html_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file.h"
#include "report/finding_sample.h"

namespace heddle {
namespace {

using nlohmann::json;

constexpr Rule kRace{"HD1001", "data-race", "data race", "Two accesses without order"};
constexpr Rule kLockset{"HD1002", "no-common-lock", "no common lock", "No lock"};

Finding finding_at(const std::string& frame, const std::string& fingerprint, const Rule& rule = kRace) {
  Finding finding;
  finding.rule = &rule;
  finding.checker = "race";
  finding.message = "x is not ordered";
  finding.fingerprint = fingerprint;
  finding.threads = {"T1"};
  Step step;
  step.thread = "T1";
  step.operation = "w(x)";
  step.phrase = "wrote x";
  step.frames = {frame};
  finding.steps = {step};
  return finding;
}

RunReport report_of(std::vector<Finding> findings) {
  RunReport report;
  report.version = "0.1.0";
  report.checkers = {{"race", Verdict::kViolations, ""}};
  report.rules = {{&kRace, "# The page </script> of the rule"}};
  report.findings = std::move(findings);
  return report;
}

// What the script element with this id holds, up to the first thing that would end it.
std::string element(const std::string& page, const std::string& id) {
  const std::string open = fmt::format("<script type=\"application/json\" id=\"{}\">", id);
  const std::size_t begin = page.find(open);
  EXPECT_NE(begin, std::string::npos) << id;
  return page.substr(begin + open.size(), page.find('<', begin + open.size()) - begin - open.size());
}
json head_of(const std::string& page) { return json::parse(element(page, "heddle-report")); }
json findings_of(const std::string& page) { return json::parse(element(page, "heddle-findings")); }

class HtmlReport : public testing::Test {
 protected:
  HtmlReport()
      : directory_(std::filesystem::temp_directory_path() / fmt::format("heddle_html_{}", ::getpid())) {
    std::filesystem::create_directories(directory_);
    options_.source_directories = {directory_.string()};
  }
  ~HtmlReport() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((directory_ / name).parent_path());
    OutputFile file(directory_ / name);
    file.write(text);
    file.commit();
  }
  json source_of(const std::string& frame, const std::string& file) const {
    return head_of(html_report(report_of({finding_at(frame, "1")}), options_))["sources"][file];
  }

  std::filesystem::path directory_;
  HtmlOptions options_;
};

TEST_F(HtmlReport, KeepsHostileTextInsideItsElement) {
  const std::string hostile = "</script><script>alert(1)</script><!-- \xE2\x80\xA8 \xff \x1b \"'&";
  Finding finding = finding_at(hostile, "1");
  finding.message = hostile;
  const std::string page = html_report(report_of({finding}), options_);
  EXPECT_TRUE(
      std::all_of(page.begin(), page.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(findings_of(page)[0]["message"],
            "</script><script>alert(1)</script><!-- \xE2\x80\xA8 \\xff \\x1b \"'&");
  EXPECT_EQ(head_of(page)["rules"][0]["page"], "# The page </script> of the rule");
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST_F(HtmlReport, ShowsTheLinesAroundAStep) {
  std::string text;
  for (int i = 1; i <= 100; ++i) text += fmt::format("\tline({});\r\n", i);
  write("src/a.cpp", text);
  const json source = source_of("src/a.cpp:50 in f", "src/a.cpp");
  EXPECT_EQ(source["lines"].size(), 13U);
  EXPECT_EQ(source["lines"]["50"], "    line(50);");
  EXPECT_TRUE(source["lines"].contains("44"));
  EXPECT_FALSE(source["lines"].contains("43"));
  EXPECT_FALSE(source.contains("missing"));
}

TEST_F(HtmlReport, SaysWhySourceIsMissing) {
  EXPECT_EQ(source_of("gone.cpp:3", "gone.cpp")["missing"], "not found where this page was made");
  write("short.cpp", "one\n");
  EXPECT_EQ(source_of("short.cpp:30", "short.cpp")["missing"], "shorter now than the lines that are named");
  std::filesystem::create_directories(directory_ / "folder.cpp");
  EXPECT_EQ(source_of("folder.cpp:3", "folder.cpp")["missing"], "not found where this page was made");
}

// A findings file from elsewhere must not make a page of whatever the reader's disk holds.
TEST_F(HtmlReport, ShowsNothingButSource) {
  write("secret.key", "secret\n");
  write("secret", "secret\n");
  EXPECT_EQ(source_of("secret.key:1", "secret.key")["missing"],
            "not shown: not a name of a C or C++ source file");
  EXPECT_EQ(source_of("secret:1", "secret")["missing"], "not shown: not a name of a C or C++ source file");
  std::filesystem::create_symlink("secret.key", directory_ / "link.cpp");
  EXPECT_EQ(source_of("link.cpp:1", "link.cpp")["missing"],
            "not shown: it leads to what is not named like a C or C++ source file");
  write("include/atomic", "header\n");
  EXPECT_EQ(source_of("include/atomic:1", "include/atomic")["lines"]["1"], "header");
}

TEST_F(HtmlReport, ShowsSomeOfEveryKindWhenThereAreTooMany) {
  std::vector<Finding> findings;
  for (int i = 0; i < 100; ++i) findings.push_back(finding_at("a.cpp:1", fmt::format("a{}", i)));
  findings.push_back(finding_at("b.cpp:1", "b", kLockset));
  findings.push_back(finding_at("c.cpp:1", "c"));
  options_.most_findings = 10;
  const std::string page = html_report(report_of(findings), options_);
  const json shown = findings_of(page);
  EXPECT_EQ(shown.size(), 10U);
  EXPECT_EQ(shown[8]["fingerprint"], "b");
  EXPECT_EQ(shown[9]["fingerprint"], "c");
  const json sample = head_of(page)["sample"];
  EXPECT_EQ(sample["all"], 102);
  EXPECT_EQ(sample["rule"]["HD1001"], 101);
  EXPECT_EQ(sample["file"]["a.cpp"], 100);
  options_.most_findings = 1000;
  EXPECT_FALSE(head_of(html_report(report_of(findings), options_)).contains("sample"));
}

TEST_F(HtmlReport, KeepsToItsBytes) {
  std::vector<Finding> findings;
  for (int i = 0; i < 50; ++i) findings.push_back(finding_at("a.cpp:1", fmt::format("a{}", i)));
  findings[0].message = std::string(30'000, 'x');
  options_.most_bytes = 20'000;
  const std::string page = html_report(report_of(findings), options_);
  EXPECT_LE(element(page, "heddle-findings").size(), 20'200U);
  EXPECT_GT(findings_of(page).size(), 10U);  // one that is too large does not keep out the others
  EXPECT_EQ(head_of(page)["sample"]["all"], 50);
}

TEST_F(HtmlReport, ShortensScheduleButKeepsItsArgument) {
  Finding finding = finding_at("a.cpp:1", "1");
  Step step = finding.steps[0];
  for (EventIndex i = 0; i < 5000; ++i) {
    step.event = i;
    finding.schedule.push_back(step);
  }
  finding.steps[0].event = 2500;
  const json shown = findings_of(html_report(report_of({finding}), options_))[0];
  EXPECT_EQ(shown["schedule"].size(), 401U);
  EXPECT_EQ(shown["schedule"][200]["event"], 2500);
  EXPECT_EQ(shown["schedule_left_out"], 4599);
}

TEST_F(HtmlReport, ComparesByFingerprint) {
  RunReport earlier = report_of(
      {finding_at("a.cpp:1", "known"), finding_at("a.cpp:2", "fixed"), finding_at("a.cpp:3", "hidden")});
  Finding other = finding_at("a.cpp:4", "unchecked");
  other.checker = "blocks";
  earlier.findings.push_back(other);
  RunReport now = report_of({finding_at("a.cpp:1", "new"), finding_at("a.cpp:1", "known")});
  now.suppressed = {{finding_at("a.cpp:3", "hidden"), "accepted", "s.toml:1"}};
  options_.earlier = &earlier;
  options_.earlier_name = "old.json";
  const std::string page = html_report(now, options_);
  const json shown = findings_of(page);
  ASSERT_EQ(shown.size(), 4U);
  for (const json& finding : shown) EXPECT_EQ(finding["change"], finding["fingerprint"]);
  const json compared = head_of(page)["compared"];
  EXPECT_EQ(compared["with"], "old.json");
  for (const char* change : {"new", "known", "fixed", "unchecked"}) EXPECT_EQ(compared[change], 1) << change;
  EXPECT_TRUE(compared["caveats"].empty());
}

TEST_F(HtmlReport, SaysWhatMakesAComparisonUncertain) {
  RunReport earlier = report_of({});
  earlier.left_out = 3;
  RunReport now = report_of({finding_at("a.cpp:1", "1")});
  now.left_out_occurrences = 1;
  now.checkers.push_back({"tso", Verdict::kClean, ""});
  options_.earlier = &earlier;
  const json caveats = head_of(html_report(now, options_))["compared"]["caveats"];
  ASSERT_EQ(caveats.size(), 3U);
  EXPECT_EQ(caveats[2], "tso did not run for the earlier report: what it finds counts as new.");
}

TEST_F(HtmlReport, NothingIsFixedThatWasNotCheckedAgain) {
  // Each finding's fingerprint is what must become of it.
  const auto found_in = [](const std::string& input, const std::string& change, std::string_view checker) {
    Finding finding = finding_at("a.cpp:1", change);
    finding.input = input;
    finding.checker = checker;
    return finding;
  };
  RunReport earlier =
      report_of({found_in("a.std", "fixed", "race"), found_in("a.std", "unchecked", "tso"),
                 found_in("b.std", "unchecked", "race"), found_in("old/run.std", "fixed", "race"),
                 found_in("1/twin.std", "fixed", "race"), found_in("2/twin.std", "unchecked", "race")});
  for (const char* path : {"a.std", "b.std", "old/run.std", "1/twin.std", "2/twin.std"})
    earlier.inputs.push_back({path, 9, ""});
  earlier.checkers.push_back({"tso", Verdict::kViolations, ""});
  RunReport now = report_of({});
  now.checkers.push_back({"tso", Verdict::kUndecided, "the budget ran out"});
  now.inputs = {{"a.std", 9, ""}, {"new/run.std", 9, "torn after chunk 2"}, {"1/twin.std", 9, ""}};
  options_.earlier = &earlier;
  const std::string page = html_report(now, options_);
  const json shown = findings_of(page);
  ASSERT_EQ(shown.size(), 6U);
  for (const json& finding : shown)
    EXPECT_EQ(finding["change"], finding["fingerprint"]) << finding["input"] << finding["checker"];
  const json compared = head_of(page)["compared"];
  EXPECT_EQ(compared["fixed"], 3);
  EXPECT_EQ(compared["unchecked"], 3);
  const json caveats = {
      "Not an input of this report: 2/twin.std and b.std. What was found there counts as not checked.",
      "Undecided or not applicable this time: tso. What it found earlier and not now counts as not checked, "
      "not as fixed.",
      "Not covered as a whole this time: new/run.std. Some of what counts as fixed there may only not have "
      "been "
      "seen."};
  EXPECT_EQ(compared["caveats"], caveats);
}

TEST_F(HtmlReport, HasASuppressionReady) {
  const json shown = findings_of(html_report(report_of({finding_at("a.cpp:1 in f", "1")}), options_));
  EXPECT_NE(shown[0]["suppress"].get<std::string>().find("frames = [ \"a.cpp:* in f\" ]"), std::string::npos);
}

TEST(Sample, TakesFromEachKindInTurn) {
  const std::vector<std::string> kinds = {"a", "a", "a", "b", "a", "c", "b"};
  EXPECT_EQ(sample(kinds, 3), (std::vector<std::size_t>{0, 3, 5}));
  EXPECT_EQ(sample(kinds, 5), (std::vector<std::size_t>{0, 1, 3, 5, 6}));
  EXPECT_EQ(sample(kinds, 7).size(), 7U);
  EXPECT_TRUE(sample({}, 3).empty());
}

}  // namespace
}  // namespace heddle
