// robustness: operations whose outcome the store buffers of x86 can change.
//
// A report means: with the writes of each thread reaching memory as late as x86 allows, the same operations
// have an outcome that no interleaving of them has (they are not sequentially consistent). Strength
// predicted: the run is silent about when writes reached memory, and some execution of the same operations in
// the same order is so. Observed: the trace has commits, and this very execution is so. No report means:
// every execution of this order of operations is equivalent to an interleaving. Paper: S2 §4.2 and ALGORITHMS
// §5 (docs/design/store-buffers.md). Blocks do not matter. Cost: as for tso.
#pragma once

#include <array>
#include <memory>

#include "core/checker.h"

namespace heddle {

inline constexpr std::array<Rule, 1> kRobustnessRules = {{{
    "HD4002",
    "not-robust",
    "store-buffer reordering",
    "Store buffers, as on x86, give these operations an outcome that no interleaving of them has.",
}}};

std::unique_ptr<Checker> make_robustness_checker(const CheckerContext& context);

inline constexpr CheckerEntry kRobustnessChecker{
    "robustness", "operations whose outcome the store buffers of x86 can change (robustness)", false,
    kRobustnessRules, make_robustness_checker};

}  // namespace heddle
