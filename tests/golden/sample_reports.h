// Runs built by hand, for the golden files and for tests that need a finding.
#pragma once

#include <string>
#include <vector>

#include "report/run_report.h"

namespace heddle::test {

struct SampleReport {
  std::string name;  // of its files in expected/
  RunReport report;
  std::size_t width = 100;  // of the text report
};

std::vector<SampleReport> sample_reports();

}  // namespace heddle::test
