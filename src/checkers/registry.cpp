#include "checkers/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "checkers/atomicity.h"
#include "checkers/blocks.h"
#include "checkers/deadlock.h"
#include "checkers/determinism.h"
#include "checkers/lockset.h"
#include "checkers/ndseq.h"
#include "checkers/race.h"
#include "checkers/reduction.h"
#include "checkers/robustness.h"
#include "checkers/tso.h"

namespace heddle {

namespace {

constexpr std::array kRegistry = {
    kRaceChecker,      kLocksetChecker, kDeadlockChecker, kAtomicityChecker,  kDeterminismChecker,
    kReductionChecker, kBlocksChecker,  kTsoChecker,      kRobustnessChecker, kNdseqChecker,
};

// Somebody else does its work.
class Idle : public Checker {
 public:
  void process(const EventBatch& /*batch*/) override {}
};

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::span<const CheckerEntry> all_checkers() { return kRegistry; }

std::vector<const CheckerEntry*> select_checkers(std::string_view list) {
  const std::vector<std::string_view> wanted =
      list.empty() ? std::vector<std::string_view>{} : split(list, ",");
  std::vector<std::string> known{"all"};
  for (const CheckerEntry& entry : kRegistry) known.emplace_back(entry.name);
  for (const std::string_view name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest(name, known);
    throw InputError(fmt::format("unknown checker '{}'{}; the checkers are {}", printable(name),
                                 near.empty() ? "" : fmt::format(", did you mean '{}'?", near),
                                 join_with_and(known)));
  }
  const bool all = std::find(wanted.begin(), wanted.end(), "all") != wanted.end();
  std::vector<const CheckerEntry*> selected;
  for (const CheckerEntry& entry : kRegistry) {
    const bool named = std::find(wanted.begin(), wanted.end(), entry.name) != wanted.end();
    if (all || named || (wanted.empty() && entry.by_default)) selected.push_back(&entry);
  }
  return selected;
}

CheckerContext shared_context(std::span<const CheckerEntry* const> selected, std::span<Findings> found,
                              std::size_t i, CheckerContext context) {
  if (selected[i]->name != kDeterminismChecker.name) return context;
  for (std::size_t other = 0; other < selected.size(); ++other)
    if (selected[other]->name == kAtomicityChecker.name) context.of_atomicity = &found[other];
  return context;
}

std::vector<std::unique_ptr<Checker>> make_checkers(std::span<const CheckerEntry* const> selected,
                                                    std::span<Findings> found,
                                                    const ContextOfChecker& context) {
  const bool has_determinism = std::any_of(selected.begin(), selected.end(), [](const CheckerEntry* entry) {
    return entry->name == kDeterminismChecker.name;
  });
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.reserve(selected.size());
  for (std::size_t i = 0; i < selected.size(); ++i) {
    if (has_determinism && selected[i]->name == kAtomicityChecker.name) {
      checkers.push_back(std::make_unique<Idle>());
    } else {
      checkers.push_back(selected[i]->make(shared_context(selected, found, i, context(i))));
    }
  }
  return checkers;
}

std::vector<const Rule*> all_rules(std::span<const CheckerEntry* const> checkers) {
  std::vector<const Rule*> rules;
  for (const CheckerEntry* checker : checkers)
    for (const Rule& rule : checker->rules)
      if (std::none_of(rules.begin(), rules.end(), [&](const Rule* known) { return known->id == rule.id; }))
        rules.push_back(&rule);
  std::sort(rules.begin(), rules.end(), [](const Rule* a, const Rule* b) { return a->id < b->id; });
  return rules;
}

std::vector<const Rule*> all_rules() { return all_rules(select_checkers("all")); }

const Rule* find_rule(std::string_view id_or_name) {
  for (const Rule* rule : all_rules())
    if (rule->id == upper(id_or_name) || rule->name == id_or_name) return rule;
  return nullptr;
}

}  // namespace heddle
