#include "cli/check_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "checkers/registry.h"
#include "cli/progress.h"
#include "cli/rule_pages.h"
#include "core/annotate.h"
#include "core/pipeline.h"
#include "import/open_trace.h"

namespace heddle {

namespace {

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

// A pipe can be read only once.
bool can_be_read_again(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

// Opens a trace that has been read whole; what is wrong with it now was not then.
template <class Use>
void read_again(const std::string& path, Use use) {
  try {
    use([&] { return open_trace(path); });
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (the file changed while it was being checked)", error.what()));
  }
}

// What the checkers could not say, and of which inputs. The same is said once, however many inputs it is
// true of.
class Notes {
 public:
  void add(const std::string& note, const std::string& input) {
    if (note.empty()) return;
    for (Entry& entry : entries_)
      if (entry.note == note) return entry.inputs.push_back(input);
    entries_.push_back({note, {input}});
  }

  // With the names of the inputs, where that is not all of them.
  std::string text(std::size_t inputs) const {
    std::string text;
    for (const auto& [note, of] : entries_) {
      if (text.ends_with('.')) text.pop_back();
      if (!text.empty()) text += "; ";
      if (of.size() < inputs) text += join_with_and(of) + ": ";
      text += note;
    }
    return text;
  }

 private:
  struct Entry {
    std::string note;
    std::vector<std::string> inputs;  // in the order given
  };
  std::vector<Entry> entries_;
};

void check_trace(const std::string& path, const std::vector<const CheckerEntry*>& selected,
                 const CheckerOptions& options, std::size_t kept_per_checker, RunReport& report,
                 std::vector<Notes>& notes, Findings& merged) {
  const std::string name = input_name(path);
  const std::unique_ptr<TraceSource> source = open_trace(path);
  // Findings apart for each checker: one that finds much must not use up the place of another.
  std::vector<Findings> found(selected.size(), Findings(kept_per_checker));
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.reserve(selected.size());
  for (std::size_t i = 0; i < selected.size(); ++i)
    checkers.push_back(selected[i]->make({source->names(), found[i], options, can_be_read_again(path)}));

  Traversal traversal;
  {
    Progress progress("checking " + printable(name));
    traversal = run_checkers(*source, checkers, [&](uint64_t events, const TraceSource& reader) {
      progress.update(events, reader);
    });
  }
  report.inputs.push_back({name, traversal.events, source->note()});
  const bool cut_off = !source->note().empty();
  read_again(path, [&](const auto& open) {
    Progress progress("explaining " + printable(name));
    explain(
        checkers, open,
        [&](std::size_t i, const Names& names) { return CheckerContext{names, found[i], options}; },
        [&](uint64_t events, const TraceSource& reader) { progress.update(events, reader); });
  });

  std::vector<Finding> findings;
  std::map<std::string, std::string_view> found_by;  // fingerprint → the first checker
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const Coverage coverage = checkers[i]->coverage();
    notes[i].add(coverage.note, name);
    Verdict& verdict = report.checkers[i].verdict;
    if (!found[i].list().empty()) {
      verdict = Verdict::kViolations;
    } else if ((coverage.undecided || cut_off) && verdict == Verdict::kClean) {
      verdict = Verdict::kUndecided;
    }
    if (cut_off && found[i].list().empty())
      notes[i].add("nothing was found in the part of the trace that could be read", name);
    report.left_out_occurrences += found[i].left_out();
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
      notes[i].add(fmt::format("nothing that {} does not report already", same_as), name);
  }
  in_order_of_occurrence(findings);
  if (needs_blocks(findings) && can_be_read_again(path))
    read_again(path, [&](const auto& open) { annotate_blocks(findings, *open()); });
  for (Finding& finding : findings) {
    finding.input = name;
    merged.add(std::move(finding));
  }
}

}  // namespace

RunReport check_traces(const std::vector<std::string>& paths,
                       const std::vector<const CheckerEntry*>& checkers, const CheckerOptions& options,
                       std::size_t kept_per_checker) {
  RunReport report;
  report.version = HEDDLE_VERSION;
  for (const CheckerEntry* checker : checkers)
    report.checkers.push_back({std::string(checker->name), Verdict::kClean, {}});
  for (const Rule* rule : all_rules(checkers))
    report.rules.push_back({rule, std::string(rule_page(rule->id))});
  std::vector<Notes> notes(checkers.size());  // by checker
  Findings merged(std::numeric_limits<std::size_t>::max());
  for (const std::string& path : paths)
    check_trace(path, checkers, options, kept_per_checker, report, notes, merged);
  for (std::size_t i = 0; i < checkers.size(); ++i) report.checkers[i].note = notes[i].text(paths.size());
  report.findings = std::move(merged.list());
  return report;
}

}  // namespace heddle
