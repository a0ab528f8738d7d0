// reduction: blocks that should be atomic and that Lipton's reduction cannot prove so.
//
// A report means: the block does something after its point of commitment that cannot be moved back there (a
// lock taken again after one was given back, two accesses that others can disturb, …), so that operations of
// other threads may come between. Strength potential: they may still be harmless; `blocks` decides that
// exactly. No report means: every atomic block of this run is atomic in every schedule that the
// synchronization allows. Paper: S1 §4 (Thm 4.1 to 4.4), with the notion of initialization and the movers of
// ALGORITHMS §4. Cost: a hash lookup per access outside of blocks, a few appends inside; memory and the rest
// grow with the different transactions (predictive/transactions.h).
#pragma once

#include <array>
#include <memory>

#include "core/checker.h"

namespace heddle {

inline constexpr Rule kNotReducible{
    "HD2002",
    "not-reducible",
    "atomicity not proved",
    "A block that should be atomic has operations that others may come between.",
};
inline constexpr std::array<Rule, 1> kReductionRules = {{kNotReducible}};

std::unique_ptr<Checker> make_reduction_checker(const CheckerContext& context);

inline constexpr CheckerEntry kReductionChecker{
    "reduction", "blocks that should be atomic and are not of a form that proves it (Lipton's movers)", false,
    kReductionRules, make_reduction_checker};

}  // namespace heddle
