#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "report/layout.h"

namespace heddle {

namespace {

std::unordered_set<std::string_view> fingerprints(const RunReport& report) {
  std::unordered_set<std::string_view> result;
  for (const Finding& finding : report.findings) result.insert(finding.fingerprint);
  for (const SuppressedFinding& suppressed : report.suppressed) result.insert(suppressed.finding.fingerprint);
  return result;
}

bool ran(const RunReport& report, std::string_view checker) {
  return std::any_of(report.checkers.begin(), report.checkers.end(),
                     [&](const CheckerSummary& candidate) { return candidate.name == checker; });
}

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::kNew: return "new";
    case Change::kKnown: return "known";
    case Change::kFixed: return "fixed";
    case Change::kUnchecked: return "unchecked";
  }
  return {};
}

Comparison compare(const RunReport& report, const RunReport& earlier) {
  Comparison result;
  const std::unordered_set<std::string_view> before = fingerprints(earlier);
  for (const Finding& finding : report.findings)
    result.findings.push_back(before.contains(finding.fingerprint) ? Change::kKnown : Change::kNew);
  const std::unordered_set<std::string_view> now = fingerprints(report);
  for (const Finding& finding : earlier.findings) {
    if (now.contains(finding.fingerprint)) continue;
    result.gone.push_back(&finding);
    result.gone_as.push_back(ran(report, finding.checker) ? Change::kFixed : Change::kUnchecked);
  }
  if (report.left_out + report.left_out_occurrences > 0)
    result.caveats.push_back(
        fmt::format("This report leaves findings out (past its limit), so some that count as fixed may only "
                    "be left out."));
  if (earlier.left_out + earlier.left_out_occurrences > 0)
    result.caveats.push_back(fmt::format(
        "The earlier report leaves findings out (past its limit), so some that count as new may be old."));
  if (report.findings.size() + report.suppressed.size() > 0 || !result.gone.empty())
    for (const CheckerSummary& checker : report.checkers)
      if (!ran(earlier, checker.name))
        result.caveats.push_back(fmt::format(
            "{} did not run for the earlier report: what it finds counts as new.", printable(checker.name)));
  return result;
}

}  // namespace heddle
