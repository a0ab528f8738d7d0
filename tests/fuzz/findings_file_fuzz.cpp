// The reader of findings files on any bytes. What it has read becomes a page, and written out it is read
// again as the same.
#include "report/findings_file.h"

#include <cstdlib>

#include "base/error.h"
#include "report/html_report.h"
#include "report/json_report.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  heddle::FindingsFile file;
  try {
    file = heddle::FindingsFile::parse(std::string_view(reinterpret_cast<const char*>(data), size), "input");
  } catch (const heddle::InputError&) {
    return 0;  // the right answer to a bad input
  }
  // What we write is no bad input: an exception that leaves this is a bug. No file is looked for.
  const std::string written = heddle::json_report(file.report);
  if (heddle::json_report(heddle::FindingsFile::parse(written, "written").report) != written) std::abort();
  heddle::HtmlOptions options;
  options.source_directories.clear();
  options.earlier = &file.report;
  options.incomplete = options.earlier_incomplete = file.incomplete;
  heddle::html_report(file.report, options);
  return 0;
}

namespace heddle::fuzz {

std::vector<std::string> seeds() {
  constexpr Rule kRule{"HD2003", "predicted-atomicity-violation", "atomicity violation predicted",
                       "It may be cut"};
  Finding finding;
  finding.rule = &kRule;
  finding.checker = "blocks";
  Step step;
  step.event = 4;
  step.thread = "T1";
  step.operation = "w(balance)";
  step.phrase = "wrote balance";
  step.frames = {"bank.cpp:29:5 in Account::withdraw", "42"};
  step.transaction = 1;
  finding.steps = {step, step};
  finding.threads = {"T1"};
  finding.blocks = {"Account::withdraw"};
  finding.fingerprint = "0123456789abcdef";
  RunReport report;
  report.version = "0.1.0";
  report.rules = {{&kRule, ""}};
  report.inputs = {{"run.std", 10, "cut off"}};
  report.checkers = {{"blocks", Verdict::kViolations, ""}};
  std::vector<std::string> result = {json_report(report)};
  report.findings = {finding};
  result.push_back(json_report(report));
  finding.schedule = {step, step, step};
  finding.delays = {{step, step}};
  finding.fences = {step};
  finding.spans = {{Span::Kind::kSharedLock, "T1", "mu", 1, 7, true}};
  finding.chains = {{"why", {step}}};
  report.findings = {finding, finding};
  report.suppressed = {{finding, "because", "a.toml:1"}};
  report.notices = {"a notice"};
  result.push_back(json_report(report));
  return result;
}

std::vector<std::string> tokens() {
  return {"{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "\"",
          "null",
          "-1",
          "1e9",
          "18446744073709551616",
          "\\u2028",
          "</script>",
          "\"findings\": [",
          "\"format\": 2,",
          "\"heddle\"",
          "\"steps\": [{}]",
          "\xff",
          "\"frames\": []"};
}

void repair(std::string&, uint64_t) {}

}  // namespace heddle::fuzz
