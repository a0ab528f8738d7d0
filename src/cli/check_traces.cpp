#include "cli/check_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/rule_pages.h"
#include "core/annotate.h"
#include "core/pipeline.h"
#include "import/open_trace.h"

namespace heddle {

namespace {

// The event at which a finding was certain.
EventIndex last_event(const Finding& finding) {
  EventIndex last = 0;
  for (const Step& step : finding.steps) last = std::max(last, step.event);
  return last;
}

// By the event at which each was certain; the registry's order where that is the same.
// (std::stable_sort would do, but g++'s library has it use what clang calls deprecated.)
void in_order_of_occurrence(std::vector<Finding>& findings) {
  std::vector<std::pair<EventIndex, std::size_t>> order;
  order.reserve(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) order.emplace_back(last_event(findings[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<Finding> sorted;
  sorted.reserve(findings.size());
  for (const auto& [event, i] : order) sorted.push_back(std::move(findings[i]));
  findings = std::move(sorted);
}

// A pipe cannot be read a second time; its findings go without the names of blocks.
void annotate(std::vector<Finding>& findings, const std::string& path) {
  std::error_code ignored;
  if (findings.empty() || path == "-" || !std::filesystem::is_regular_file(path, ignored)) return;
  try {
    const std::unique_ptr<TraceSource> again = open_trace(path);
    annotate_blocks(findings, *again);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (the file changed while it was being checked)", error.what()));
  }
}

void add_note(std::string& notes, const std::string& note) {
  if (note.empty() || notes.find(note) != std::string::npos) return;
  notes += notes.empty() ? note : " " + note;
}

// Takes what the checker found and could not say into the summary of all files so far.
void summarize(CheckerSummary& summary, const Findings& findings, const Coverage& coverage) {
  if (!findings.list().empty()) {
    summary.verdict = Verdict::kViolations;
  } else if (coverage.undecided && summary.verdict == Verdict::kClean) {
    summary.verdict = Verdict::kUndecided;
  }
  add_note(summary.note, coverage.note);
}

void check_trace(const std::string& path, const std::vector<const CheckerEntry*>& selected,
                 const CheckerOptions& options, std::size_t kept_per_checker, RunReport& report,
                 Findings& merged) {
  const std::unique_ptr<TraceSource> source = open_trace(path);
  // Findings apart for each checker: one that finds much must not use up the place of another.
  std::vector<Findings> found(selected.size(), Findings(kept_per_checker));
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.reserve(selected.size());
  for (std::size_t i = 0; i < selected.size(); ++i)
    checkers.push_back(selected[i]->make({source->names(), found[i], options}));

  Traversal traversal;
  {
    Progress progress("checking " + printable(path));
    traversal = run_checkers(*source, checkers, [&](uint64_t events, const TraceSource& reader) {
      progress.update(events, reader);
    });
  }
  report.inputs.push_back({path, traversal.events, source->note()});

  std::vector<Finding> findings;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    summarize(report.checkers[i], found[i], checkers[i]->coverage());
    report.left_out += found[i].left_out();
    for (Finding& finding : found[i].list()) findings.push_back(std::move(finding));
  }
  in_order_of_occurrence(findings);
  annotate(findings, path);
  for (Finding& finding : findings) {
    finding.input = path;
    merged.add(std::move(finding));
  }
}

}  // namespace

RunReport check_traces(const std::vector<std::string>& paths,
                       const std::vector<const CheckerEntry*>& checkers, const CheckerOptions& options,
                       std::size_t kept_per_checker) {
  RunReport report;
  report.version = HEDDLE_VERSION;
  for (const CheckerEntry* checker : checkers) {
    report.checkers.push_back({std::string(checker->name), Verdict::kClean, {}});
    for (const Rule& rule : checker->rules) report.rules.push_back({&rule, std::string(rule_page(rule.id))});
  }
  Findings merged(std::numeric_limits<std::size_t>::max());
  for (const std::string& path : paths)
    check_trace(path, checkers, options, kept_per_checker, report, merged);
  report.findings = std::move(merged.list());
  return report;
}

}  // namespace heddle
