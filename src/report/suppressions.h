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
#include <memory>
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
  std::vector<std::string> frames;  // patterns, each for a step of its own
  std::string variable;             // pattern for a variable some step accesses; empty: any
  std::string object;               // pattern for the operand (variable, lock, …) of some step; empty: any
  std::string reason;
  std::optional<std::chrono::year_month_day> expires;  // the last day it applies
  uint64_t used = 0;                                   // findings it has taken out
};

// The reason generate_suppressions() writes. A file that still has it works, with a notice.
inline constexpr std::string_view kReasonPlaceholder = "EDIT ME: why is this finding acceptable?";

class SuppressionIndex;

class Suppressions {
 public:
  // `rules` are all rules there are; `today` decides what has expired.
  Suppressions(std::span<const Rule* const> rules, std::chrono::year_month_day today);
  ~Suppressions();
  Suppressions(Suppressions&&) noexcept;

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
  std::vector<Suppression> list_;            // in order of the files
  std::unique_ptr<SuppressionIndex> index_;  // of list_
};

// Moves the suppressed findings of the report aside and adds the notices.
void apply_suppressions(Suppressions& suppressions, RunReport& report);

// Ready-to-paste entries for --gen-suppressions that take out all of the findings. A finding that the entry
// of an earlier one takes out gets none of its own, which would never be used.
std::string generate_suppressions(const std::vector<Finding>& findings);

}  // namespace heddle
