// race: two accesses to one variable, at least one a write and at least one plain, with nothing that orders
// them.
//
// A report means: in this very run the two accesses were unordered by happens-before (core/happens_before.h),
// so another schedule of the same operations can swap them, and C++ gives the program no meaning (strength:
// observed). No report means: no two accesses of this run race. Other runs may. Method: FastTrack's epochs
// (Flanagan & Freund, PLDI 2009), extended by C++20 atomics and fences. Exact per event: an event is reported
// iff it races with some earlier one. For that, a variable that has raced keeps the latest access of each
// thread until a write orders them all. Cost: O(1) per access in the common cases (same epoch, ordered owner,
// shared reader), O(threads) for a write after shared reads and for raced or atomic variables;
// synchronization as in HappensBefore.
#pragma once

#include <array>
#include <memory>

#include "core/checker.h"

namespace heddle {

inline constexpr std::array<Rule, 2> kRaceRules = {
    {{
         "HD1001",
         "data-race",
         "data race",
         "Two threads access the same variable, at least one writes, and "
         "nothing orders the two accesses.",
     },
     {
         "HD1004",
         "unguarded-use",
         "use without the lock",
         "In a focused build, what a lock guards is used without it, and "
         "nothing orders that with those who hold it.",
     }}};

std::unique_ptr<Checker> make_race_checker(const CheckerContext& context);

// What there is to say about two accesses to the variable that race, or an access and the end of its life.
Finding race_finding(Step earlier, Step later, const std::string& variable);

inline constexpr CheckerEntry kRaceChecker{
    "race",
    "data races of the observed run (happens-before, C++20 atomics and fences)",
    true,
    kRaceRules,
    make_race_checker,
    /*needs_whole_run=*/false};

}  // namespace heddle
