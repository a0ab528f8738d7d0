#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
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

const CheckerSummary* checker_of(const RunReport& report, std::string_view name) {
  const auto found = std::find_if(report.checkers.begin(), report.checkers.end(),
                                  [&](const CheckerSummary& checker) { return checker.name == name; });
  return found == report.checkers.end() ? nullptr : &*found;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The input of that path; or, as runs may keep their traces in directories of their own, the only one of that
// file name. Null: there is none, or more than one could be meant.
const InputSummary* input_of(const RunReport& report, std::string_view path) {
  const InputSummary* namesake = nullptr;
  bool is_only = true;
  for (const InputSummary& input : report.inputs) {
    if (input.path == path) return &input;
    if (file_name(input.path) != file_name(path)) continue;
    is_only = namesake == nullptr;
    namesake = &input;
  }
  return is_only ? namesake : nullptr;
}

// The same input in both reports: the namesake of only one.
const InputSummary* input_again(const RunReport& report, const RunReport& earlier, std::string_view path) {
  const InputSummary* input = input_of(report, path);
  if (input == nullptr || input->path == path) return input;
  const InputSummary* back = input_of(earlier, input->path);
  return back != nullptr && back->path == path ? input : nullptr;
}

// Which of the earlier findings that are gone were looked for again, and why the others were not.
class Search {
 public:
  Search(const RunReport& report, const RunReport& earlier) : report_(report), earlier_(earlier) {}

  Change fate(const Finding& gone) {
    const CheckerSummary* checker = checker_of(report_, gone.checker);
    if (checker == nullptr) return Change::kUnchecked;
    // A finding that does not tell its input is of a report that has none to tell.
    if (!gone.input.empty()) {
      const InputSummary* input = input_again(report_, earlier_, gone.input);
      if (input == nullptr) {
        missing_.insert(printable(gone.input));
        return Change::kUnchecked;
      }
      if (!input->note.empty()) partial_.insert(printable(input->path));
    }
    if (checker->verdict != Verdict::kUndecided) return Change::kFixed;
    undecided_.insert(printable(checker->name));
    return Change::kUnchecked;
  }

  void add_caveats(std::vector<std::string>& caveats) const {
    if (!missing_.empty())
      caveats.push_back(fmt::format(
          "Not an input of this report: {}. What was found there counts as not checked.", names(missing_)));
    if (!undecided_.empty())
      caveats.push_back(fmt::format(
          "Undecided this time: {}. What it found earlier and not now counts as not checked, not as fixed.",
          names(undecided_)));
    if (!partial_.empty())
      caveats.push_back(
          fmt::format("Not covered as a whole this time: {}. Some of what counts as fixed there may only not "
                      "have been seen.",
                      names(partial_)));
  }

 private:
  static std::string names(const std::set<std::string>& all) {
    constexpr std::size_t kMost = 5;
    std::vector<std::string> shown(
        all.begin(), std::next(all.begin(), static_cast<std::ptrdiff_t>(std::min(kMost, all.size()))));
    if (all.size() > kMost) shown.push_back(fmt::format("{} more", all.size() - kMost));
    return join_with_and(shown);
  }

  const RunReport& report_;
  const RunReport& earlier_;
  std::set<std::string> missing_, undecided_, partial_;  // names of inputs, checkers, inputs
};

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

Comparison compare(const RunReport& report, const RunReport& earlier, bool is_whole, bool earlier_is_whole) {
  Comparison result;
  const std::unordered_set<std::string_view> before = fingerprints(earlier);
  for (const Finding& finding : report.findings)
    result.findings.push_back(before.contains(finding.fingerprint) ? Change::kKnown : Change::kNew);
  const std::unordered_set<std::string_view> now = fingerprints(report);
  Search search(report, earlier);
  for (const Finding& finding : earlier.findings) {
    if (now.contains(finding.fingerprint)) continue;
    result.gone.push_back(&finding);
    result.gone_as.push_back(is_whole ? search.fate(finding) : Change::kUnchecked);
  }
  if (!is_whole && !result.gone.empty())
    result.caveats.emplace_back(
        "This report is not whole: what only the earlier one has counts as not checked, not as fixed.");
  if (!earlier_is_whole)
    result.caveats.emplace_back("The earlier report is not whole: some that count as new may be old.");
  search.add_caveats(result.caveats);
  if (report.left_out + report.left_out_occurrences > 0)
    result.caveats.push_back(
        fmt::format("This report leaves findings out (past its limit), so some that count as fixed may only "
                    "be left out."));
  if (earlier.left_out + earlier.left_out_occurrences > 0)
    result.caveats.push_back(fmt::format(
        "The earlier report leaves findings out (past its limit), so some that count as new may be old."));
  if (report.findings.size() + report.suppressed.size() > 0 || !result.gone.empty())
    for (const CheckerSummary& checker : report.checkers)
      if (checker_of(earlier, checker.name) == nullptr)
        result.caveats.push_back(fmt::format(
            "{} did not run for the earlier report: what it finds counts as new.", printable(checker.name)));
  return result;
}

}  // namespace heddle
