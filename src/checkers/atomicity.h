// atomicity: blocks that should be atomic, and a run in which no serial order of them gives what happened.
//
// A report means: the operations of this very run, ordered by their conflicts, put a block both before and
// after others, so that running one block after the other cannot explain what was seen (strength: observed).
// The report blames the block, and the blocks around it, where the argument proves them alone to be at fault.
// No report means: the run was conflict serializable. Other runs may not be.
// Paper: S0 §4, Fig. 5 (Velodrome is the case without deterministic blocks). A deterministic block is a
// transaction here too, with the threads it forks.
// Cost: checkers/transaction_order.h; independent of the length of the trace.
#pragma once

#include <array>
#include <memory>

#include "checkers/serializability_rules.h"
#include "core/checker.h"

namespace heddle {

std::unique_ptr<Checker> make_atomicity_checker(const CheckerContext& context);

inline constexpr std::array<Rule, 2> kAtomicityRules = {{kAtomicityViolation, kInterference}};

inline constexpr CheckerEntry kAtomicityChecker{
    "atomicity",
    "blocks that should be atomic and were not in this run (conflict serializability)",
    true,
    kAtomicityRules,
    make_atomicity_checker,
    /*needs_whole_run=*/false};

}  // namespace heddle
