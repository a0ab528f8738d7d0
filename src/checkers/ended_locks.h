// What the locks that nobody can take any more leave behind in the search for deadlocks.
//
// No dependency to come wants or holds such a lock. So in a cycle still to be found it can only be wanted by
// a dependency that is known, and held by another known one, of another thread. Where there are no such two,
//   - a dependency that wants it is in no cycle,
//   - one that holds it is in none if there is nothing else in its hands that somebody may want,
//   - and the lock can keep two dependencies apart, as a gate, only if two threads held it.
// What is dropped for one lock can make another pointless, so this is repeated until nothing changes.
#pragma once

#include <span>
#include <vector>

#include "checkers/lock_dependency.h"

namespace heddle {

// Drops the dependencies that can be in no cycle to come, and takes locks out of `holding` of the others that
// make no difference; `held` and the places are then to be found anew. `ended` are numbers below `locks`.
void forget_ended_locks(Dependencies& dependencies, std::span<const uint32_t> ended, std::size_t locks);

}  // namespace heddle
