// Every checker Heddle has. A new one is a line in registry.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/checker.h"

namespace heddle {

std::span<const CheckerEntry> all_checkers();

// The checkers a list names: "race,deadlock", "all", or "" for the default ones. Order is the registry's,
// each once. Throws InputError naming an unknown checker.
std::vector<const CheckerEntry*> select_checkers(std::string_view list);

// The rule with this id ("HD1001", any case) or name ("data-race"); null when there is none.
const Rule* find_rule(std::string_view id_or_name);

// What the given checkers, or all, can report: each rule once, by id.
std::vector<const Rule*> all_rules(std::span<const CheckerEntry* const> checkers);
std::vector<const Rule*> all_rules();

}  // namespace heddle
