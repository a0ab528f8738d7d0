// Every checker Heddle has. A new one is a line in registry.cpp.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/checker.h"

namespace heddle {

std::span<const CheckerEntry> all_checkers();

// The checkers a list names: "race,deadlock", "all", or "" for the default ones. Order is the registry's,
// each once. Throws InputError naming an unknown checker.
std::vector<const CheckerEntry*> select_checkers(std::string_view list);

// The checkers, to be run together on one trace. determinism finds all that atomicity finds, so it works for
// both when both are selected, and atomicity's checker does nothing. `context(i)` is for the i-th; `found`
// are the findings of each.
using ContextOfChecker = std::function<CheckerContext(std::size_t)>;
std::vector<std::unique_ptr<Checker>> make_checkers(std::span<const CheckerEntry* const> selected,
                                                    std::span<Findings> found,
                                                    const ContextOfChecker& context);
// `context` of the i-th of those, completed by whom it works for.
CheckerContext shared_context(std::span<const CheckerEntry* const> selected, std::span<Findings> found,
                              std::size_t i, CheckerContext context);

// The rule with this id ("HD1001", any case) or name ("data-race"); null when there is none.
const Rule* find_rule(std::string_view id_or_name);

// What the given checkers, or all, can report: each rule once, by id.
std::vector<const Rule*> all_rules(std::span<const CheckerEntry* const> checkers);
std::vector<const Rule*> all_rules();

}  // namespace heddle
