// Reports are read back as they were written, and what is wrong with a file is said with its place.
#include "report/findings_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "report/json_report.h"
#include "report/text_report.h"

namespace heddle {
namespace {

std::string message_for(const std::string& text) {
  try {
    FindingsFile::parse(text, "f.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "it was read";
}

// The report of the golden files with a finding of most kinds.
std::string sample() { return read_whole_file(std::string(HEDDLE_GOLDEN_DIR) + "/mixed.json"); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(FindingsFile, ReadsEveryReportBackAsItWasWritten) {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(HEDDLE_GOLDEN_DIR)) {
    if (file.path().extension() != ".json") continue;
    ++count;
    const std::string text = read_whole_file(file.path());
    EXPECT_EQ(json_report(FindingsFile::parse(text, "f").report), text) << file.path();
  }
  EXPECT_GT(count, 5U);
}

TEST(FindingsFile, OutlivesBeingMoved) {
  FindingsFile first = FindingsFile::parse(sample(), "f");
  const std::string before = text_report(first.report, {});
  const FindingsFile second = std::move(first);
  EXPECT_EQ(text_report(second.report, {}), before);
}

TEST(FindingsFile, PassesOverWhatItDoesNotKnow) {
  const std::string text = replaced(sample(), "\"inputs\"", "\"news\": [{\"a\": [1, {}]}], \"inputs\"");
  EXPECT_EQ(json_report(FindingsFile::parse(text, "f").report), sample());
  const std::string of_finding = replaced(sample(), "\"rule\": \"HD1001\",\n      \"name\"",
                                          "\"rule\": \"HD1001\", \"x\": {}, \"name\"");
  EXPECT_EQ(json_report(FindingsFile::parse(of_finding, "f").report), sample());
}

TEST(FindingsFile, ReadsReportsFromBeforeTheFormatWasNumbered) {
  std::string text = replaced(sample(), "\"format\": 1,", "");
  text = replaced(text, "\"command\": \"\",", "");
  EXPECT_EQ(FindingsFile::parse(text, "f").report.findings.size(), 5U);
}

TEST(FindingsFile, NamesANewerFormatAndWhoWroteIt) {
  const std::string newer =
      "f.json: written by a newer Heddle (7.0.0), in version 2 of the format; this one knows version 1: ";
  const std::string wanted = newer + "use that Heddle, or check again with this one";
  EXPECT_EQ(message_for("{\"heddle\": \"7.0.0\", \"format\": 2, \"findings\": \"elsewhere\"}"), wanted);
  // Also where the first finding already looks different.
  EXPECT_EQ(message_for("{\"heddle\": \"7.0.0\", \"format\": 2, \"findings\": [{\"kind\": 1}]}"), wanted);
  // What it understands is there all the same.
  std::string text = replaced(sample(), "\"format\": 1", "\"format\": 2");
  text = replaced(text, "\"heddle\": \"0.1.0\"", "\"heddle\": \"7.0.0\"");
  const FindingsFile understood = FindingsFile::parse(text, "f.json");
  EXPECT_EQ(understood.incomplete, newer + "what it understands is shown, and may be wrong");
  EXPECT_EQ(understood.report.findings.size(), 5U);
  text = replaced(text, "\"strength\": \"observed\"", "\"strength\": \"certain\"");
  const FindingsFile partly = FindingsFile::parse(text, "f.json");
  EXPECT_EQ(partly.incomplete, newer +
                                   "what it understands is shown, and may be wrong; left out, because it "
                                   "does not understand them: 1");
  EXPECT_EQ(partly.report.findings.size(), 4U);
}

TEST(FindingsFile, RefusesWhatIsNoVersionOfAFormat) {
  for (const char* odd : {"\"1\"", "0", "-1", "1.0", "null", "[1]"})
    EXPECT_EQ(message_for(replaced(sample(), "\"format\": 1", std::string("\"format\": ") + odd)),
              "f.json: the report.format is not a whole number from 1 on")
        << odd;
}

// What is whole before the cut is read, and nothing else: no half of a finding, no number without its end.
TEST(FindingsFile, ReadsWhatComesBeforeACut) {
  const std::string text = sample();
  const FindingsFile whole_file = FindingsFile::parse(text, "f");
  const std::size_t whole = text.rfind('}') + 1;
  std::size_t most = 0;
  for (std::size_t size = 1; size < whole; size += 37) {
    const std::string cut = text.substr(0, size);
    const std::string message = message_for(cut);
    if (message != "it was read") {
      EXPECT_NE(message.find("it was cut off before the end of its first finding"), std::string::npos)
          << size;
      EXPECT_EQ(most, 0U);
      continue;
    }
    const FindingsFile file = FindingsFile::parse(cut, "f.json");
    EXPECT_NE(file.incomplete.find("it was cut off; what comes before that is shown"), std::string::npos);
    ASSERT_GE(file.report.findings.size(), most);
    most = file.report.findings.size();
    RunReport wanted = whole_file.report;
    wanted.findings.resize(most);
    wanted.suppressed.resize(file.report.suppressed.size());
    wanted.notices.clear();
    wanted.left_out = wanted.left_out_occurrences = 0;
    wanted.sequential_runs.resize(file.report.sequential_runs.size());
    EXPECT_EQ(json_report(file.report), json_report(wanted)) << size;
  }
  EXPECT_EQ(most, whole_file.report.findings.size());
  EXPECT_EQ(
      message_for("{\n  \"heddle\": \"0.1"),
      "f.json:2:17: the file ends in the midst of the report: it was cut off before the end of its first "
      "finding; findings are what 'heddle run' and 'heddle check' write with --format json");
}

TEST(FindingsFile, TakesNothingHalfFromWhereverTheCutIs) {
  const std::string finding = sample().substr(sample().find("\"findings\": ["));
  const std::string first = finding.substr(0, finding.find("\n    },") + 6);
  const std::string start = "{\"heddle\": \"1\", " + first + "], ";
  for (const char* rest : {"\"inputs\": [{\"path\": \"a\", \"events\": 12", "\"inputs\": [{\"path\": \"a",
                           "\"inputs\": [", "\"left_out\": 1", "\"checkers\": [{}"})
    EXPECT_EQ(message_for(start + rest), std::string(rest).ends_with("{}")
                                             ? "f.json: the report.checkers[0] has no 'name'"
                                             : "it was read")
        << rest;
  EXPECT_TRUE(FindingsFile::parse(start + "\"inputs\": [{\"path\": \"a\", \"events\": 12", "f")
                  .report.inputs.empty());
}

TEST(FindingsFile, TellsOtherFilesFromReports) {
  EXPECT_EQ(message_for("T1|w(x)|a.cpp:1\n"),
            "f.json:1:1: this is no JSON; findings are what 'heddle run' and 'heddle check' write with "
            "--format json");
  EXPECT_EQ(message_for("{} x"),
            "f.json:1:4: this is no JSON; findings are what 'heddle run' and 'heddle check' write with "
            "--format json");
  EXPECT_EQ(message_for("[1, 2]"),
            "f.json: this is JSON, but no report of findings, which 'heddle run' and 'heddle check' write "
            "with --format json");
  EXPECT_EQ(message_for("{\"runs\": []}"),
            "f.json: this is a SARIF log; make the report with --format json instead");
}

TEST(FindingsFile, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(message_for(replaced(sample(), "\"event\": 23", "\"event\": -1")),
            "f.json: findings[0].steps[1].event is not a whole number");
  EXPECT_EQ(message_for(replaced(sample(), "\"strength\": \"observed\"", "\"strength\": \"sure\"")),
            "f.json: findings[0].strength is 'sure', which this Heddle does not know");
  EXPECT_EQ(message_for(replaced(sample(), "\"thread\": \"T1\",", "")),
            "f.json: findings[0].steps[0] has no 'thread'");
  EXPECT_EQ(message_for(replaced(sample(), "\"where\": \"ci.toml:12\"", "\"where\": 12")),
            "f.json: suppressed[0].suppression.where is not a text");
  EXPECT_EQ(message_for(replaced(sample(), "\"notices\": [", "\"notices\": [3, ")),
            "f.json: the report.notices holds more than texts");
}

TEST(FindingsFile, ReadsDeepNestingWithoutRecursion) {
  const std::string deep(200'000, '[');
  EXPECT_NE(message_for("{\"heddle\": \"1\", \"x\": " + deep).find("cut off"), std::string::npos);
}

}  // namespace
}  // namespace heddle
