// The report as one page for a browser: pictures of each finding, its source, what was not covered. Nothing
// outside the file is needed or asked for. web/ has the page; this adds the data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/run_report.h"

namespace heddle {

struct HtmlOptions {
  // Where source files with relative names are looked for, in turn.
  std::vector<std::string> source_directories = {"."};
  // An earlier report to compare with, and what its file is called; null: none.
  const RunReport* earlier = nullptr;
  std::string earlier_name;
  // Why findings may be missing from the report and from the earlier one, a sentence; empty: they are whole.
  std::string incomplete;
  std::string earlier_incomplete;
  // With more findings, or more bytes of them, the page shows a sample and says so. A browser opens it at
  // once.
  std::size_t most_findings = 2'000;
  std::size_t most_bytes = 16'000'000;
};

// ASCII only, whatever names the report holds.
std::string html_report(const RunReport& report, const HtmlOptions& options = {});

}  // namespace heddle
