// The rules atomicity and determinism share: a trace may hold atomic and deterministic blocks, and a cycle is
// reported as a defect of the kind of block it refutes, whichever checker found it.
#pragma once

#include "core/finding.h"

namespace heddle {

inline constexpr Rule kAtomicityViolation{
    "HD2001",
    "atomicity-violation",
    "atomicity violation",
    "A block that should be atomic was interrupted: no serial order of the blocks gives what happened.",
};

inline constexpr Rule kConflict{
    "HD3001",
    "determinism-conflict",
    "nondeterminism",
    "Two threads of one deterministic block conflict, and only the scheduler decides which comes first.",
};

inline constexpr Rule kInterference{
    "HD3002",
    "determinism-interference",
    "interference",
    "Operations outside a deterministic block came between its own: no serial order gives what happened.",
};

}  // namespace heddle
