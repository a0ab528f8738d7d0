// The end of the calm (runtime/calm.h), and blocks that span it.
//
// Up to its end all blocks are two-phase: whatever depends on what a block gave back knows of that by the
// vector clocks that races are found with, and the other way round. After its end all is told. So a cycle
// that reaches back over it leaves, before the end, a block that was open then and had given something: it
// *spans* the end. Who ends the calm tells of all these blocks, in the name of their threads. From then on
// each thread tells once of each of them when it knows what that block first gave, by the clock of whoever
// left that for it; and a block that spans the end tells when what it gave has come back to it from a thread
// that told nothing. With these the checkers see every way out of and into what was not told.
// docs/design/sieve.md has the argument, tests/programs/calm_blocks.cpp the law.
#pragma once

#include "runtime/clock.h"
#include "runtime/tell.h"

namespace heddle::runtime {

struct Thread;

// Something makes the order of everything matter. If the calm is ending already, waits until it is over.
void end_calm(Thread& thread);

// The thread is about to tell what it did at `pc`, and the calm is over: tells first of which of these blocks
// it knows that it has not told of.
void tell_known_spans(Thread& thread, const void* pc);
// It takes something: tells if that comes back from who knew what the block that it is in gave.
void tell_come_back(Thread& thread);
// Until then a thread's number may not become another's that does not come after it.
bool any_open_span();
// That block ends. Under the thread's giving_lock.
void end_span(Thread& thread);

// In the child after a fork, which is not calm yet.
void forget_spans();

// The thread is about to be ordered after what was left there, by what makes no difference to what it does
// (kSync): its clock will show more than what depends on a block. If a block of which it hears so spans the
// end of the calm and takes something, that is in doubt.
void blur_givers(const Thread& thread, const Published& left);
void blur_givers(const Thread& thread, const Gathered& left);
void tell_doubt(Thread& thread);

}  // namespace heddle::runtime
