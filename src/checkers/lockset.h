// lockset: a variable that several threads use and at least one writes, with no lock that is held every time.
//
// A report means: the discipline "one lock guards this variable" was broken (strength: potential). It is a
// false alarm where something other than a lock keeps the threads apart: fork and join, a barrier, a
// hand-over through a queue. No report means: every variable is local to a thread, or only read once shared,
// or guarded, or only used atomically, as far as its accesses after the first thread's go. Which thread is
// the first depends on the schedule: with another one first, the same operations may be reported. Method:
// Eraser (Savage et al., TOCS 1997) with the states of Agarwal et al. (ASE 2005, §2.1), per variable or per
// object. Reader locks count for reads only. All atomic accesses count as holding one more lock, common to
// them, so atomics need no lock among themselves and plain accesses beside them do. alloc and free begin a
// new life of a variable; of an object when they name it, or when they have named all fields used in its
// present life. Cost: O(1) per event, at most two hash lookups; memory: 40 bytes per variable and one record
// per shrunk candidate set.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "core/checker.h"

namespace heddle {

inline constexpr std::array<Rule, 1> kLocksetRules = {{{
    "HD1002",
    "unguarded-variable",
    "no common lock",
    "Several threads use a variable, at least one writes it, and no lock is held at every access.",
}}};

std::unique_ptr<Checker> make_lockset_checker(const CheckerContext& context);

inline constexpr CheckerEntry kLocksetChecker{
    "lockset", "shared variables that no lock guards consistently (Eraser; may give false alarms)", false,
    kLocksetRules, make_lockset_checker};

// The object a variable belongs to: the text before its last ".field", "->field" or "[index]"; the whole name
// of a variable that has none.
std::string_view object_of(std::string_view variable);

}  // namespace heddle
