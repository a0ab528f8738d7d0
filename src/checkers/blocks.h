// blocks: atomic blocks that some schedule of this run's operations interrupts, though this run need not
// have.
//
// A report means: there is an order of this run's operations that keeps each thread's order, the locks, fork
// and join, barrier phases and semaphore hand-overs, and that no serial order of the transactions explains
// (view serializability). Strength predicted when the run as a whole can come to that order, else potential;
// the finding shows it, step by step. No report means: in every such schedule, of all of this run's
// transactions or of any part of them, each block is as good as alone. Values are not looked at: a schedule
// in which the program would have gone another way counts. With it go the findings of `deadlock`: a schedule
// that deadlocks is not atomic either (S1 §5.1). Paper: S1 §5, with the corrections of ALGORITHMS §4;
// docs/design/predictive.md has the decisions. Cost: as reduction while the trace is read; then by pairs of
// different shapes (predictive/atomicity_search.h).
#pragma once

#include <array>
#include <memory>

#include "checkers/deadlock.h"
#include "core/checker.h"

namespace heddle {

inline constexpr Rule kPredictedViolation{
    "HD2003",
    "predicted-atomicity-violation",
    "atomicity violation predicted",
    "Another order of this run's operations interrupts a block that should be atomic: no serial order of the "
    "blocks gives what happens then.",
};
inline constexpr std::array<Rule, 2> kBlocksRules = {{kDeadlockRules[0], kPredictedViolation}};

std::unique_ptr<Checker> make_blocks_checker(const CheckerContext& context);

inline constexpr CheckerEntry kBlocksChecker{
    "blocks", "blocks that should be atomic and are not in some other order of this run's operations", false,
    kBlocksRules, make_blocks_checker};

}  // namespace heddle
