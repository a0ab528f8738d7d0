// How atomic operations on a variable depend on each other: a write on all before it, a read on the writes
// before it, whatever their memory orders. Clocks show only those that happen before each other, and races
// need no more. Who looks back at what was not told (runtime/calm.h) asks for all of them, but only for what
// follows from something that a block gave back and that is still open. So nothing is kept while there is no
// such block.
#pragma once

#include "runtime/clock.h"

namespace heddle::runtime {

struct Sync;
struct Thread;

// What was left by …
struct Conflicts {
  Gathered writes;  // … the last write: it depended on all before it
  Gathered reads;   // … those that read since
};

// For a variable whose Sync the thread has locked. It is about to do such an operation, or has done it and
// leaves what it knows.
void take_conflicts(Thread& thread, Sync& sync, bool writes);
void leave_conflicts(Sync& sync, const Published& published, bool writes);
void forget_conflicts(Sync& sync);

}  // namespace heddle::runtime
