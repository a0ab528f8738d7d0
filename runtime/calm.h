// What a calm program need not tell.
//
// A block that takes nothing after it first gave something back is in order whatever the others do, and a
// program made of such blocks has no violation to look for (docs/design/sieve.md). When the monitor has seen
// nothing else for long, it calls the program *calm*: from then on the threads look themselves whether their
// blocks are of that kind, and tell neither blocks nor locks, except locks taken in an order that is new.
//
// The first block that takes something after it gave something ends the calm, for good. Whether it is
// interrupted is known then: if somebody who knew what the block had given back (by the clocks that races are
// found with) has given it something. From there on all is told again. Blocks that were open then, and had
// given something, go on being looked at in this way until they end. An atomic operation ends the calm, too,
// because clocks do not show all that atomic operations depend on; so does a race or a deterministic block.
//
// It is tried on request only (HEDDLE_CALM_AFTER): docs/design/sieve.md says what is missing.
#pragma once

#include <cstdint>

#include "runtime/tell.h"
#include "trace/event.h"

namespace heddle::runtime {

struct Thread;

// What the thread's outermost block first gave back, and whether it has come back.
struct Giving {
  uint64_t time = 0;  // of the thread; 0: there is no block, or it has given nothing
  Operation operation = Operation::kNested;
  const void* object = nullptr;
  const void* pc = nullptr;
  uint32_t context = 0;
  uint64_t too_strict_orders = 0;  // how many there were then (runtime/calm.cpp)
  bool began_before_end_of_calm = false;
  bool is_told = false;          // that it has come back
  bool may_be_back = false;      // what came may be the thread's own
  uint32_t back_from = kNobody;  // the slot of the thread that knew of it
  static constexpr uint32_t kNobody = ~uint32_t{0};

  bool has_come_back() const { return back_from != kNobody; }
};

bool is_calm();

// The calling thread has taken the lock, or is about to give it back: tells it if it must be told.
void tell_lock_taken(Operation operation, const void* lock, const void* pc, uint32_t extra,
                     uint32_t context = Told::kNow);
void tell_lock_given_back(Operation operation, const void* lock, const void* pc);

// The thread is about to tell this.
void follow(Thread& thread, uint8_t operation, const void* object, const void* pc);

// Something else makes the order of everything matter.
void end_calm(Thread& thread);

// The thread is in no block, or in one that begins here.
void forget_given(Thread& thread);

}  // namespace heddle::runtime
