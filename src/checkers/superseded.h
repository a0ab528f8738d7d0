// Which dependencies of a run a later one can stand for in every cycle still to be found.
//
// A thread that does the same in a loop leaves a dependency in each round, and as long as some other thread,
// such as a main that waits in a join, has not synchronized with it, any of them may be part of a cycle with
// that thread's next acquisition. But the latest will do. Let f move some dependencies to the next of the
// same group, and leave the others where they are. If f takes unordered ones (of different threads) to
// unordered ones, then whatever closes a cycle with some dependencies closes one with their images, which
// look the same in a finding: a dependency to come that does not know the earlier does not know the later. So
// what f moves can be dropped.
//
// Let f move a to a', and let e be unordered with a. f(e), if a' knows it, is early enough for a' to know e
// too, so only those e need a look that a' knows and a does not. (That f(e) might know f(a) is seen when
// looking at e.) Hence: begin with an f that moves all it can, and leave where it is whatever has an e with
// f(e) known to a', until nothing changes. The answer for a depends on the clocks of a and a' only, so it is
// found once for all dependencies of two stretches. Cost of a round: each stretch looks at what happened
// during it, O(n) in all where groups recur in all stretches, and at the time of each thread.
#pragma once

#include <cstdint>
#include <vector>

#include "checkers/lock_dependency.h"

namespace heddle {

// For each dependency, in their order in the trace, whether it can be dropped. `groups` says to which group
// each belongs: those of one group have the same thread and make the same findings.
std::vector<bool> superseded(const Dependencies& dependencies, const std::vector<uint32_t>& groups);

}  // namespace heddle
