// What `heddle check` and `heddle run` have in common: what to check, how to report it, how to end.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/exit_code.h"
#include "core/checker.h"
#include "report/html_report.h"
#include "report/run_report.h"
#include "report/suppressions.h"
#include "report/text_report.h"

namespace heddle {

// More different findings than these a checker only counts, so that a trace full of defects does not fill the
// memory.
inline constexpr uint64_t kKeptPerChecker = 10'000;

// Where `heddle run` reports when nothing else is said: its standard output is the program's.
inline constexpr const char* kToStandardError = "&2";

struct ReportOptions {
  std::string checkers;  // comma-separated; empty: the default ones
  std::string format = "text";
  std::string output = "-";
  std::string html;  // where to write the page for the browser; empty: nowhere
  std::string dot;   // where to draw the cycles; empty: nowhere
  std::string color = "auto";
  std::vector<std::string> suppressions;  // files
  bool gen_suppressions = false;          // print suppressions for the findings instead of the report
  uint64_t exit_code = kExitFindings;     // with findings
  uint64_t limit = 100;                   // findings shown
  std::string granularity = "field";
  uint64_t budget = CheckerOptions{}.budget;
  std::string engine = "auto";
  std::string race_filter = "auto";
  std::string race_freedom = "pairwise";
  std::string emit_witness;  // where to write the schedules of predicted violations; empty: nowhere
  std::string config;        // read by apply_settings()
};

void add_report_options(CLI::App& app, ReportOptions& options);

// How the options, their other sources and the exit codes are explained below a command's help.
std::string checkers_help();
std::string suppressions_and_settings_help(const std::string& command);

CheckerOptions checker_options(const ReportOptions& options);
// How many findings a checker keeps apart: all that is to be suppressed has to be known.
uint64_t kept_per_checker(const ReportOptions& options);
// Whether the report shows how long blocks and locks around the steps lasted.
bool wants_spans(const ReportOptions& options);
// Where the sources for a page are.
HtmlOptions html_options();
TextStyle style_for(const ReportOptions& options, int descriptor);

// Where the report goes. Opened before the work starts, so that a place that cannot be written to is known at
// once.
class ReportWriter {
 public:
  // `inputs` are not to be written over. Throws InputError.
  ReportWriter(const ReportOptions& options, const std::vector<std::string>& inputs);

  Suppressions& suppressions() { return suppressions_; }
  // Leaves out what is suppressed or past the limit, writes, and returns the exit code. `told`: the findings
  // were shown already, only the summary is left to say.
  int write(RunReport report, bool told = false);

 private:
  void refuse_shared_outputs(const std::vector<std::string>& inputs) const;
  void write_witnesses(const RunReport& report);

  const ReportOptions& options_;
  Suppressions suppressions_;
  std::optional<OutputFile> output_;  // none: standard error
  std::optional<OutputFile> picture_;
  std::optional<OutputFile> page_;
  std::optional<OutputFile> witness_;
};

}  // namespace heddle
