// Suppressions: findings the user has looked at and does not want to see again. docs/suppressions.md explains
// the files.
//
//     [[suppress]]
//     rule = "HD1001"
//     frames = ["bank.cpp:* in Account::withdraw"]
//     reason = "the counter is only a statistic"
//     expires = 2027-01-31
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/run_report.h"

namespace heddle {

// One [[suppress]] entry.
struct Suppression {
  std::string where;                // "ci.toml:12", the line of its [[suppress]]
  std::string rule;                 // id of the rule
  std::vector<std::string> frames;  // patterns; see matches()
  std::string variable;             // pattern for a variable some step accesses; empty: any
  std::string object;               // pattern for the operand (variable, lock, …) of some step; empty: any
  std::string reason;
  std::optional<std::chrono::year_month_day> expires;  // the last day it applies
  uint64_t used = 0;                                   // findings it has taken out
};

// The reason generate_suppression() writes. A file that still has it works, with a notice.
inline constexpr std::string_view kReasonPlaceholder = "EDIT ME: why is this finding acceptable?";

class Suppressions {
 public:
  // `rules` are all rules there are; `today` decides what has expired.
  Suppressions(std::span<const Rule* const> rules, std::chrono::year_month_day today);

  // Adds the entries of a file. Throws InputError with file, line and column for anything but a valid one.
  void load(const std::string& path);
  // The same for text; `name` stands for the file in messages.
  void parse(std::string_view text, const std::string& name);

  // The first entry in force that matches the finding, counted as used; null when there is none.
  const Suppression* find(const Finding& finding);

  // A sentence for each entry that has expired, still has the placeholder reason, or was never used although
  // its rule is among those `checked`.
  std::vector<std::string> notices(std::span<const RuleHelp> checked) const;

 private:
  bool expired(const Suppression& suppression) const {
    return suppression.expires && *suppression.expires < today_;
  }

  std::vector<const Rule*> rules_;
  std::chrono::year_month_day today_;
  std::vector<Suppression> list_;  // in order of the files
};

// Whether the suppression, expired or not, describes the finding.
//
// Each pattern of `frames` must describe a step of its own: one of the step's frames (all of it, its place,
// or its function) or its block. A directory in front of the file need not be written. Patterns are in the
// order of the steps, where the first step follows the last: the same defect may show with another step first
// in the next run.
bool matches(const Suppression& suppression, const Finding& finding);

// Moves the suppressed findings of the report aside and adds the notices.
void apply_suppressions(Suppressions& suppressions, RunReport& report);

// A ready-to-paste entry for the finding, for --gen-suppressions.
std::string generate_suppression(const Finding& finding);

}  // namespace heddle
