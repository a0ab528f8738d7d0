// Every sample in every format equals its file in expected/; HEDDLE_UPDATE_GOLDEN=1 writes the files instead.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "report/dot_report.h"
#include "report/json_report.h"
#include "report/sarif_report.h"
#include "report/text_report.h"
#include "sample_reports.h"

namespace heddle::test {
namespace {

void expect_golden(const std::string& file, const std::string& actual) {
  const std::string path = std::string(HEDDLE_GOLDEN_DIR) + "/" + file;
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(HEDDLE_GOLDEN_DIR);
    OutputFile out(path);
    out.write(actual);
    out.commit();
    return;
  }
  EXPECT_EQ(read_whole_file(path), actual)
      << path << " differs; tests/golden/README.md says how to update it";
}

class GoldenReport : public testing::TestWithParam<SampleReport> {};

TEST_P(GoldenReport, Text) {
  const auto& [name, report, width] = GetParam();
  expect_golden(name + ".txt", text_report(report, {.width = width, .colour = false}));
}

TEST_P(GoldenReport, ColouredText) {
  const auto& [name, report, width] = GetParam();
  expect_golden(name + ".colour.txt", text_report(report, {.width = width, .colour = true}));
}

TEST_P(GoldenReport, Json) { expect_golden(GetParam().name + ".json", json_report(GetParam().report)); }

TEST_P(GoldenReport, Dot) { expect_golden(GetParam().name + ".dot", dot_report(GetParam().report)); }

TEST_P(GoldenReport, Sarif) {
  expect_golden(GetParam().name + ".sarif",
                sarif_report(GetParam().report, {.source_root = "/home/me/shop"}));
}

INSTANTIATE_TEST_SUITE_P(Samples, GoldenReport, testing::ValuesIn(sample_reports()),
                         [](const auto& sample) { return sample.param.name; });

}  // namespace
}  // namespace heddle::test
