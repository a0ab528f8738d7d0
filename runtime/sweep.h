// Finds the numbers (runtime/stretches.h) that the state of memory no longer needs, so that they can be
// used again: what the runtime keeps is bounded by the memory that the program uses, however long it runs.
//
// While it looks, nobody may change the state of memory (Pause in runtime/ownership.h); the program itself
// runs on as long as it does nothing new. What the inlined checks compare with, a thread's present stretch
// and group, stays in use; what a thread remembers of other numbers, it forgets. A sweep comes when so many
// numbers were handed out since the last one that its cost is small beside theirs.
#pragma once

namespace heddle::runtime {

// The calling thread is not at a page.
void sweep_if_due();
void allow_sweeps();  // in the child after a fork

}  // namespace heddle::runtime
