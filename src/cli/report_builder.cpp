#include "cli/report_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/text.h"
#include "checkers/registry.h"
#include "cli/rule_pages.h"

namespace heddle {

namespace {

// Of several inputs the verdict is the weightiest.
int weight(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotApplicable: return 0;
    case Verdict::kClean: return 1;
    case Verdict::kUndecided: return 2;
    case Verdict::kViolations: return 3;
  }
  return 0;
}

// By the event at which each was certain; the registry's order where that is the same.
// (std::stable_sort would do, but g++'s library has it use what clang calls deprecated.)
void in_order_of_occurrence(std::vector<Finding>& findings) {
  std::vector<std::pair<EventIndex, std::size_t>> order;
  order.reserve(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) order.emplace_back(certain_at(findings[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<Finding> sorted;
  sorted.reserve(findings.size());
  for (const auto& [event, i] : order) sorted.push_back(std::move(findings[i]));
  findings = std::move(sorted);
}

}  // namespace

void ReportBuilder::Notes::add(const std::string& note, const std::string& input) {
  if (note.empty()) return;
  for (Entry& entry : entries_)
    if (entry.note == note) return entry.inputs.push_back(input);
  entries_.push_back({note, {input}});
}

std::string ReportBuilder::Notes::text(std::size_t inputs) const {
  std::string text;
  for (const auto& [note, of] : entries_) {
    if (text.ends_with('.')) text.pop_back();
    if (!text.empty()) text += "; ";
    if (of.size() < inputs) text += join_with_and(of) + ": ";
    text += note;
  }
  return text;
}

ReportBuilder::ReportBuilder(std::vector<const CheckerEntry*> checkers)
    : notes_(checkers.size()), merged_(std::numeric_limits<std::size_t>::max()) {
  report_.version = HEDDLE_VERSION;
  for (const CheckerEntry* checker : checkers)
    report_.checkers.push_back({std::string(checker->name), Verdict::kClean, {}});
  for (const Rule* rule : all_rules(checkers))
    report_.rules.push_back({rule, std::string(rule_page(rule->id))});
}

std::vector<Finding> ReportBuilder::add_input(const InputSummary& input, std::span<const Coverage> covered,
                                              std::span<Findings> found) {
  report_.inputs.push_back(input);
  const bool cut_off = !input.note.empty();
  std::vector<Finding> findings;
  std::map<std::string, std::string_view> found_by;  // fingerprint → the first checker
  for (std::size_t i = 0; i < covered.size(); ++i) {
    const Coverage& coverage = covered[i];
    notes_[i].add(coverage.note, input.path);
    if (coverage.sequential_run) {
      report_.sequential_runs.push_back(*coverage.sequential_run);
      report_.sequential_runs.back().input = input.path;
    }
    const Verdict here = !found[i].list().empty()        ? Verdict::kViolations
                         : coverage.undecided || cut_off ? Verdict::kUndecided
                         : coverage.is_applicable        ? Verdict::kClean
                                                         : Verdict::kNotApplicable;
    Verdict& verdict = report_.checkers[i].verdict;
    if (report_.inputs.size() == 1 || weight(here) > weight(verdict)) verdict = here;
    if (cut_off && found[i].list().empty())
      notes_[i].add("nothing was found in the part of the trace that could be read", input.path);
    report_.left_out_occurrences += found[i].left_out();
    // Two checkers may find the same: atomicity and determinism see the same cycles.
    std::string_view same_as;
    bool all_known = true;
    for (Finding& finding : found[i].list()) {
      const auto [first, is_new] = found_by.emplace(finding.fingerprint, finding.checker);
      all_known &= !is_new;
      same_as = first->second;
      if (is_new) findings.push_back(std::move(finding));
    }
    if (all_known && !found[i].list().empty())
      notes_[i].add(fmt::format("nothing that {} does not report already", same_as), input.path);
  }
  in_order_of_occurrence(findings);
  return findings;
}

void ReportBuilder::add_findings(std::vector<Finding> findings, const std::string& input) {
  for (Finding& finding : findings) {
    finding.input = input;
    merged_.add(std::move(finding));
  }
}

RunReport ReportBuilder::finish() {
  for (std::size_t i = 0; i < notes_.size(); ++i)
    report_.checkers[i].note = notes_[i].text(report_.inputs.size());
  report_.findings = std::move(merged_.list());
  return std::move(report_);
}

}  // namespace heddle
