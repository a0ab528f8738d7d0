// What the report formats promise beyond their looks, which the golden files pin.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "report/json_report.h"
#include "report/layout.h"
#include "report/sarif_report.h"
#include "report/source_uri.h"
#include "report/text_report.h"

namespace heddle {
namespace {

using nlohmann::json;
using namespace std::string_literals;

constexpr Rule kRace{"HD1001", "data-race", "data race", "Two accesses without order"};
constexpr Rule kCycle{"HD1101", "lock-order-cycle", "lock order cycle", "Locks in two orders"};

Step step(EventIndex event, std::string thread, std::string operation, std::string phrase,
          std::vector<std::string> frames) {
  Step step;
  step.event = event;
  step.thread = std::move(thread);
  step.operation = std::move(operation);
  step.phrase = std::move(phrase);
  step.frames = std::move(frames);
  return step;
}

// Three steps of two threads: T1, T2, T1.
RunReport sample() {
  Finding finding;
  finding.rule = &kRace;
  finding.checker = "race";
  finding.strength = Strength::kObserved;
  finding.message = "x is not ordered";
  finding.threads = {"T1", "T2"};
  finding.steps = {
      step(5, "T1", "r(x)", "read x", {"/repo/src/a b.cpp:3:4 in f", "/repo/src/m.cpp:9 in main"}),
      step(6, "T2", "w(x)", "wrote x", {"/usr/include/v.h:8"}),
      step(7, "T1", "w(x)", "wrote x", {"/repo/src/c.cpp:5 in g"})};
  finding.steps[1].because = "nothing orders it";
  finding.fingerprint = "0123456789abcdef";
  RunReport report;
  report.version = "0.1.0";
  report.inputs = {{"run.std", 10, ""}};
  report.checkers = {{"race", Verdict::kViolations, ""}};
  report.rules = {{&kCycle, ""}, {&kRace, "# page {}"}};
  report.findings = {finding};
  return report;
}

json sarif_run(const RunReport& report, const std::string& root = "/repo") {
  return json::parse(sarif_report(report, {.source_root = root})).at("runs").at(0);
}

// Every text of the model set to bytes that break terminals and JSON.
RunReport hostile() {
  const std::string bad = "\x1b[2J\xff\xc3(\r\n\xed\xa0\x80\x00z"s;
  RunReport report = sample();
  Finding& finding = report.findings[0];
  for (std::string* text : {&finding.message, &finding.conclusion, &finding.advice, &finding.input})
    *text = bad;
  finding.threads = finding.blocks = {bad};
  for (Step& step : finding.steps) {
    step.frames = {bad, fmt::format("{0}:1 in {0}", bad), bad};
    for (std::string* text :
         {&step.thread, &step.operation, &step.phrase, &step.block, &step.held, &step.because})
      *text = bad;
  }
  report.suppressed = {{finding, bad, bad}};
  report.inputs = {{bad, 1, bad}, {bad, 2, bad}};
  report.checkers = {{"race", Verdict::kUndecided, bad}};
  report.notices = {bad};
  return report;
}

bool has_control_bytes(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; });
}

TEST(TextReport, NeverPassesOnControlBytes) {
  for (const std::size_t width : {60U, 100U, 140U}) {
    const std::string text = text_report(hostile(), {.width = width, .colour = false});
    EXPECT_FALSE(has_control_bytes(text));
    for (const std::string_view line : split(text, "\n")) EXPECT_EQ(printable(line), line);
  }
}

TEST(TextReport, LeavesNoSpacesAtTheEndOfLines) {
  const std::string text = text_report(sample());
  EXPECT_EQ(text.find(" \n"), std::string::npos) << text;
}

TEST(TextReport, ColoursChangeNothingButColours) {
  std::string coloured = text_report(sample(), {.width = 100, .colour = true});
  EXPECT_NE(coloured.find("\x1b["), std::string::npos);
  for (std::size_t at; (at = coloured.find('\x1b')) != std::string::npos;)
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, text_report(sample()));
}

TEST(TextReport, LinesKeepTheWidthWhereTheyCanBeBroken) {
  RunReport report = sample();
  report.findings[0].message = report.findings[0].conclusion = report.findings[0].steps[0].because =
      "many short words that go on and on and on until no line of any terminal could ever hold them all at "
      "once";
  for (std::size_t width = 60; width <= 140; ++width) {
    const std::string text = text_report(report, {.width = width, .colour = false});
    for (const std::string_view line : split(text, "\n")) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(TextStyle, ColourOnlyWhereAskedFor) {
  const int null = ::open("/dev/null", O_WRONLY);
  ASSERT_GE(null, 0);
  EXPECT_FALSE(text_style(ColourChoice::kAuto, null).colour);
  EXPECT_TRUE(text_style(ColourChoice::kAlways, null).colour);
  EXPECT_FALSE(text_style(ColourChoice::kNever, null).colour);
  EXPECT_EQ(text_style(ColourChoice::kAuto, null).width, 100U);
  ::close(null);
}

TEST(TextStyle, AutoFollowsTheTerminalAndNoColor) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "no terminal can be opened here";
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(text_style(ColourChoice::kAuto, terminal).colour);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(text_style(ColourChoice::kAuto, terminal).colour);
  EXPECT_TRUE(text_style(ColourChoice::kAlways, terminal).colour);
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(text_style(ColourChoice::kAuto, terminal).colour);
  ::close(terminal);
}

TEST(JsonReport, IsValidForAnyBytes) {
  const std::string text = json_report(hostile());
  EXPECT_FALSE(has_control_bytes(text));
  EXPECT_TRUE(json::accept(text));
}

TEST(JsonReport, HasThePublishedFields) {
  const json report = json::parse(json_report(sample()));
  EXPECT_EQ(report.at("heddle"), "0.1.0");
  EXPECT_EQ(report.at("checkers").at(0).at("verdict"), "violations");
  const json& finding = report.at("findings").at(0);
  EXPECT_EQ(finding.at("rule"), "HD1001");
  EXPECT_EQ(finding.at("name"), "data-race");
  EXPECT_EQ(finding.at("checker"), "race");
  EXPECT_EQ(finding.at("strength"), "observed");
  EXPECT_EQ(finding.at("message"), "x is not ordered");
  EXPECT_EQ(finding.at("blocks"), json::array());
  EXPECT_EQ(finding.at("threads"), json({"T1", "T2"}));
  EXPECT_EQ(finding.at("fingerprint"), "0123456789abcdef");
  const json& first = finding.at("steps").at(0);
  EXPECT_EQ(first.at("event"), 5);
  EXPECT_EQ(first.at("thread"), "T1");
  EXPECT_EQ(first.at("operation"), "r(x)");
  EXPECT_EQ(first.at("site"), "/repo/src/a b.cpp:3:4 in f < /repo/src/m.cpp:9 in main");
  EXPECT_EQ(first.at("because"), "");
  EXPECT_EQ(first.at("frames").at(0).at("line"), 3);
}

TEST(JsonReport, SaysWhenTheDefectWasCertain) {
  RunReport report = sample();
  const auto certain = [&] { return json::parse(json_report(report)).at("findings").at(0).at("certain_at"); };
  EXPECT_EQ(certain(), 7);  // the checker does not tell: the last step
  std::swap(report.findings[0].steps[0], report.findings[0].steps[2]);
  EXPECT_EQ(certain(), 7);
  report.findings[0].certain_at = 9;
  EXPECT_EQ(certain(), 9);
}

TEST(SarifReport, IsValidForAnyBytes) {
  const std::string text = sarif_report(hostile(), {.source_root = "/repo"});
  EXPECT_FALSE(has_control_bytes(text));
  EXPECT_TRUE(json::accept(text));
}

TEST(SarifReport, HasWhatTheStandardRequires) {
  const json log = json::parse(sarif_report(sample()));
  EXPECT_EQ(log.at("version"), "2.1.0");
  const json& run = log.at("runs").at(0);
  EXPECT_EQ(run.at("tool").at("driver").at("name"), "Heddle");
  EXPECT_EQ(run.at("invocations").at(0).at("executionSuccessful"), true);
  EXPECT_EQ(run.at("columnKind"), "unicodeCodePoints");
  const json& rules = run.at("tool").at("driver").at("rules");
  for (const json& result : run.at("results")) {
    EXPECT_EQ(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id"), result.at("ruleId"));
    EXPECT_TRUE(result.at("message").at("text").is_string());
    EXPECT_EQ(result.at("partialFingerprints").at("heddle/v1"), "0123456789abcdef");
  }
  EXPECT_EQ(rules.at(1).at("help").at("markdown"), "# page {}");
  EXPECT_FALSE(rules.at(0).contains("help"));
}

TEST(SarifReport, TheLevelFollowsTheStrength) {
  RunReport report = sample();
  EXPECT_EQ(sarif_run(report).at("results").at(0).at("level"), "error");
  report.findings[0].strength = Strength::kPredicted;
  EXPECT_EQ(sarif_run(report).at("results").at(0).at("level"), "warning");
  report.findings[0].strength = Strength::kPotential;
  EXPECT_EQ(sarif_run(report).at("results").at(0).at("level"), "note");
}

TEST(SarifReport, OneCodeFlowWithAThreadFlowPerThread) {
  const json result = sarif_run(sample()).at("results").at(0);
  ASSERT_EQ(result.at("codeFlows").size(), 1U);
  const json& flows = result.at("codeFlows").at(0).at("threadFlows");
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows.at(0).at("id"), "T1");
  EXPECT_EQ(flows.at(0).at("locations").size(), 2U);
  EXPECT_EQ(flows.at(1).at("id"), "T2");
  EXPECT_EQ(flows.at(1).at("locations").size(), 1U);
  std::set<int> order;
  for (const json& flow : flows)
    for (const json& location : flow.at("locations")) order.insert(location.at("executionOrder").get<int>());
  EXPECT_EQ(order, (std::set<int>{1, 2, 3}));
  EXPECT_EQ(flows.at(1).at("locations").at(0).at("executionOrder"), 2);
}

// The steps of an argument need not be in the order of the trace.
TEST(SarifReport, TheCodeFlowIsInTheOrderOfTheTrace) {
  RunReport report = sample();
  std::vector<Step>& steps = report.findings[0].steps;
  steps[0].event = 7;  // T1
  steps[1].event = 3;  // T2
  steps[2].event = 5;  // T1
  const json flows = sarif_run(report).at("results").at(0).at("codeFlows").at(0).at("threadFlows");
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows.at(0).at("id"), "T2");
  EXPECT_EQ(flows.at(0).at("locations").at(0).at("executionOrder"), 1);
  const json& of_first = flows.at(1).at("locations");
  EXPECT_EQ(of_first.at(0).at("location").at("message").at("text"), "T1 wrote x");
  EXPECT_EQ(of_first.at(0).at("executionOrder"), 2);
  EXPECT_EQ(of_first.at(1).at("location").at("message").at("text"), "T1 read x");
  EXPECT_EQ(of_first.at(1).at("executionOrder"), 3);
}

TEST(SarifReport, LocationsAreTheLastStepAndRelatedOnesTheOthers) {
  const json result = sarif_run(sample()).at("results").at(0);
  const json& where = result.at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(where.at("artifactLocation"), json({{"uri", "src/c.cpp"}, {"uriBaseId", "SRCROOT"}}));
  EXPECT_EQ(where.at("region"), json({{"startLine", 5}}));
  const json& related = result.at("relatedLocations");
  ASSERT_EQ(related.size(), 2U);
  EXPECT_EQ(related.at(0).at("physicalLocation").at("artifactLocation").at("uri"), "src/a%20b.cpp");
  EXPECT_EQ(related.at(1).at("physicalLocation").at("artifactLocation"),
            json({{"uri", "file:///usr/include/v.h"}}));
  EXPECT_EQ(related.at(1).at("message").at("text"), "T2 wrote x: nothing orders it");
  ASSERT_EQ(result.at("stacks").size(), 1U);
  EXPECT_EQ(result.at("stacks").at(0).at("frames").size(), 2U);
}

TEST(SarifReport, NoPhysicalLocationWithoutAFile) {
  RunReport report = sample();
  for (Step& step : report.findings[0].steps) step.frames = {"42"};
  report.findings[0].steps[0].frames.clear();
  const json result = sarif_run(report).at("results").at(0);
  EXPECT_EQ(result.dump().find("physicalLocation"), std::string::npos);
  EXPECT_EQ(result.at("locations").at(0).at("logicalLocations").at(0).at("fullyQualifiedName"), "42");
  EXPECT_EQ(result.at("relatedLocations").size(),
            1U);  // the step without a site has no location to relate to
}

TEST(SarifReport, BracesAndLinksInNamesStayLiteral) {
  RunReport report = sample();
  report.findings[0].message = "main::{lambda()#1} and operator[](5)";
  EXPECT_EQ(sarif_run(report).at("results").at(0).at("message").at("text"),
            "Data race: main::{{lambda()#1}} and operator[] (5).");
}

TEST(SarifReport, RecordsSuppressedResults) {
  RunReport report = sample();
  report.suppressed = {{report.findings[0], "a statistic", "ci.toml:3"}};
  report.findings.clear();
  const json result = sarif_run(report).at("results").at(0);
  EXPECT_EQ(result.at("suppressions").at(0).at("kind"), "external");
  EXPECT_EQ(result.at("suppressions").at(0).at("justification"), "a statistic");
}

TEST(SourceUri, RelativeToTheRootWherePossible) {
  const auto expect = [](const std::string& file, const std::string& root, const std::string& uri,
                         bool below) {
    const SourceUri actual = source_uri(file, root);
    EXPECT_EQ(actual.uri, uri) << file;
    EXPECT_EQ(actual.below_root, below) << file;
  };
  expect("bank.cpp", "/repo", "bank.cpp", true);
  expect("./src/../bank.cpp", "/repo", "bank.cpp", true);
  expect("/repo/src/bank.cpp", "/repo", "src/bank.cpp", true);
  expect("/repo/src/bank.cpp", "/repo/", "src/bank.cpp", true);
  expect("/repository/bank.cpp", "/repo", "file:///repository/bank.cpp", false);
  expect("/repo/../etc/x.cpp", "/repo", "file:///etc/x.cpp", false);
  expect("../x.cpp", "/a/repo", "file:///a/x.cpp", false);
  expect("../repo/x.cpp", "/a/repo", "x.cpp", true);
  expect("../x.cpp", "", "../x.cpp", false);
  expect("/src/x.cpp", "", "file:///src/x.cpp", false);
  expect("/src/x.cpp", "/", "src/x.cpp", true);
  expect("a b%c#d?e:f.cpp", "/repo", "a%20b%25c%23d%3Fe%3Af.cpp", true);
  expect("größe\xff.cpp", "/repo", "gr%C3%B6%C3%9Fe%FF.cpp", true);
  EXPECT_EQ(root_uri("/my repo"), "file:///my%20repo/");
  EXPECT_EQ(root_uri("/repo/"), "file:///repo/");
}

TEST(Layout, Wrap) {
  EXPECT_TRUE(wrap("", 10, 10).empty());
  EXPECT_EQ(wrap("one two three", 7, 20), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("aaaaaaaaaaaa b", 4, 4), (std::vector<std::string>{"aaaaaaaaaaaa", "b"}));
  EXPECT_EQ(wrap("a bb cc dd", 4, 8), (std::vector<std::string>{"a bb", "cc dd"}));
}

TEST(Layout, DisplayWidth) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("größe"), 5U);
  EXPECT_EQ(display_width("計算"), 4U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e and a combining accent
}

TEST(Layout, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1, "event"), "1 event");
  EXPECT_EQ(grouped(1234567, "event"), "1,234,567 events");
}

}  // namespace
}  // namespace heddle
