// Relaxed read-modify-writes: counters, mostly. Other threads learn nothing from them, and without fences in
// the program theirs learns nothing either. So one that changes nothing of the state of its memory (or only
// what its thread says of itself: runtime/open_groups.h), and need not be told, takes no lock: while all is
// calm, outside of blocks, as long as no block has given anything that it could pass on
// (runtime/conflicts.h).
//
// From where it is seen that this is so until the operation is done, the thread says that it is at one
// (Thread::is_updating). Who ends the calm first says that it ends, then makes every thread pass a memory
// barrier, then waits for all who are at one: so what was not told was done before. Nobody waits for anything
// there. If some block has given something by the end, and is still open, that may have come to the
// variable before the operation: it is passed on.
#include "runtime/relaxed_updates.h"

#include <sched.h>

#include <atomic>

#include "runtime/atomics.h"
#include "runtime/calm.h"
#include "runtime/interpose/real.h"
#include "runtime/ownership.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// How it was begun: so, or when the variable had been used so often (Sync::uses).
constexpr uint32_t kTookLock = 1;

std::atomic<bool> has_fences{false};

bool is_of_no_consequence(Thread& thread) {
  return !has_fences.load(std::memory_order_relaxed) && can_pause() && !tells_every_access &&
         !any_has_given() && (!tells_order() || keeps_outside_of_blocks(thread));
}

uint32_t begin(const void* variable, uint64_t size, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return 0;
  Thread& thread = *this_thread;
  enter_runtime();  // until the operation is done: no handler of a signal comes in between
  const bool is_noted = note_update(thread, variable, size, pc);
  thread.is_updating = true;
  asm volatile("" ::: "memory");
  if (is_noted && is_of_no_consequence(thread)) {
    const uint32_t uses = sync_at(variable).uses.load(std::memory_order_acquire);
    if (uses % 2 == 0) return uses;
  }
  thread.is_updating = false;
  leave_runtime();
  begin_atomic(variable);
  return kTookLock;
}

void end(const void* variable, uint64_t size, const char* name, uint32_t begun, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  if (begun == kTookLock) {
    end_atomic(variable, size, kAtomicRead | kAtomicWrite, 0, name, pc);
    return;
  }
  const bool may_pass_on = any_has_given();
  asm volatile("" ::: "memory");
  this_thread->is_updating = false;
  if (may_pass_on) pass_on_gifts(variable, begun);
  leave_runtime();
}

}  // namespace

void wait_for_untold_updates(const Thread& but) {
  if (!can_pause()) return;  // there are none
  pass_barrier_everywhere();
  const uint32_t count = __atomic_load_n(&thread_count, __ATOMIC_ACQUIRE);
  for (uint32_t serial = 1; serial <= count; ++serial)
    while (threads_by_serial[serial] != &but && threads_by_serial[serial]->is_updating) ::sched_yield();
  std::atomic_thread_fence(std::memory_order_acquire);
}

// From code with fences, before anything else that it does; and from that of other compilers, which may have
// some. A fence lets the thread learn from what it read before.
HEDDLE_INTERPOSE void heddle_expect_fences() { has_fences.store(true); }
HEDDLE_INTERPOSE void __tsan_init() { has_fences.store(true); }

HEDDLE_INTERPOSE uint32_t heddle_begin_relaxed_update(const void* variable, uint64_t size) {
  return begin(variable, size, HEDDLE_HERE);
}
HEDDLE_INTERPOSE void heddle_end_relaxed_update(const void* variable, uint64_t size, const char* name,
                                                uint32_t begun) {
  end(variable, size, name, begun, HEDDLE_HERE);
}

}  // namespace heddle::runtime
