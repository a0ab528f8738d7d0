// determinism: blocks that should give the same result however their threads are scheduled, and do not.
//
// A report is one of two. *Conflict*: two threads of one deterministic block conflict (on a variable, a lock,
// a semaphore) and only the scheduler decides who is first; fork, join, barriers and semaphore hand-over
// would have ordered them, locks and atomics do not. *Interference*: threads outside the block got in between
// its operations, so that no serial order of the transactions gives what happened. Strength: observed. No
// report means: any serializable run with the same order of transactions ends in the same state (S0, Theorem
// 1). Paper: S0 §3 (Fig. 4, with the correction of ALGORITHMS §3) and §4 (Fig. 5). Cost: that of atomicity,
// and checkers/conflict_freedom.h for blocks with several threads.
#pragma once

#include <array>
#include <memory>

#include "checkers/serializability_rules.h"
#include "core/checker.h"

namespace heddle {

std::unique_ptr<Checker> make_determinism_checker(const CheckerContext& context);

inline constexpr std::array<Rule, 3> kDeterminismRules = {{kConflict, kInterference, kAtomicityViolation}};

inline constexpr CheckerEntry kDeterminismChecker{
    "determinism",
    "deterministic blocks whose result depends on the schedule, or on other threads",
    true,
    kDeterminismRules,
    make_determinism_checker,
    /*needs_whole_run=*/false};

}  // namespace heddle
