// What one run of Heddle has to say: the model that every report format renders.
//
// Pure data. The command line fills it in, apply_suppressions() moves findings aside, and text_report(),
// json_report(), sarif_report() and html_report() turn it into text. A new format is one more function of a
// RunReport.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/finding.h"
#include "core/sequential_run.h"

namespace heddle {

// One trace that was read.
struct InputSummary {
  std::string path;     // as the user named it
  uint64_t events = 0;  // how many were checked
  std::string note;     // what was not covered ("torn after chunk 12"), a sentence; empty: everything was
};

enum class Verdict : uint8_t {
  kClean,          // nothing found
  kViolations,     // findings, suppressed ones included: a suppression does not make a program correct
  kUndecided,      // nothing found, but a budget ran out or the trace was cut off before all was checked
  kNotApplicable,  // nothing to check: the inputs have nothing that the checker is about
};
std::string_view to_string(Verdict verdict);

// One checker that ran.
struct CheckerSummary {
  std::string name;  // "race"
  Verdict verdict = Verdict::kClean;
  std::string note;  // what its silence does not cover; empty: nothing
};

// A rule the checkers of this run can report, with the page that explains it.
struct RuleHelp {
  const Rule* rule = nullptr;
  std::string page;  // docs/rules/<id>.md, in Markdown; empty: none at hand
};

// A finding that a suppression took out of the report.
struct SuppressedFinding {
  Finding finding;
  std::string reason;  // why, in the words of the suppression
  std::string where;   // the suppression: "ci.toml:12"
};

struct RunReport {
  std::string version;                   // of Heddle
  std::string command;                   // that makes the same run again, for a shell; empty: not known
  std::vector<InputSummary> inputs;      // in the order given
  std::vector<CheckerSummary> checkers;  // in the order of the registry
  std::vector<RuleHelp> rules;           // all that the checkers of this run can report
  std::vector<Finding> findings;         // left after suppression, in order of first occurrence
  std::vector<SuppressedFinding> suppressed;
  std::vector<SequentialRun> sequential_runs;  // ndseq: one for each input with tasks
  std::vector<std::string> notices;            // unused, expired and unedited suppressions, a sentence each
  uint64_t left_out = 0;                       // findings past the limit, not shown
  // Occurrences of findings past those that checkers keep apart. How many findings they are is not known.
  uint64_t left_out_occurrences = 0;
};

// The first event at which the defect was certain. A checker that does not tell argues up to its last step.
EventIndex certain_at(const Finding& finding);

}  // namespace heddle
