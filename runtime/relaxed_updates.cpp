// Relaxed read-modify-writes: counters, mostly. Other threads learn nothing from them, and without fences in
// the program theirs learns nothing either. So one that changes nothing of the state of its memory, and need
// not be told, takes no lock: while all is calm, outside of blocks, as long as no block has given anything
// that it could pass on (runtime/conflicts.h).
//
// It is looked at before the operation whether that is so, and after it. Both change in one direction where
// it matters: the calm ends once, before what ends it is done; a block that gave something and is over again
// by then asks for nothing. So if it is so both times, it was so when the operation was done. If not, it is
// done as all others are, but too late: its place among them is known only if nobody has used the variable
// meanwhile. Else what depends on the place is in doubt.
#include <atomic>

#include "runtime/atomics.h"
#include "runtime/calm.h"
#include "runtime/conflicts.h"
#include "runtime/interpose/real.h"
#include "runtime/spans.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// How it was begun: so, or as the variable's version was.
constexpr uint32_t kTookLock = 1;

std::atomic<bool> has_fences{false};

bool is_of_no_consequence(Thread& thread) {
  return !tells_every_access && !any_has_given() && (!tells_order() || keeps_outside_of_blocks(thread));
}

uint32_t begin(const void* variable, uint64_t size) {
  Thread* const thread = this_thread;
  if (heddle_thread_state.thread == nullptr) return 0;
  if (!has_fences.load(std::memory_order_relaxed) && is_noted(*thread, variable, size, true) &&
      is_of_no_consequence(*thread)) {
    const Inside inside;
    const uint32_t version = sync_at(variable).version.load(std::memory_order_acquire);
    if (version % 2 == 0) return version;
  }
  begin_atomic(variable);
  return kTookLock;
}

// Others have used the variable, and it is not known whether that was before the thread did.
void doubt_place(Thread& thread, const Sync& sync) {
  if (sync.conflicts != nullptr) {
    blur_givers(thread, sync.conflicts->writes);
    blur_givers(thread, sync.conflicts->reads);
  }
  if (tells_order() && !keeps_outside_of_blocks(thread)) tell_doubt(thread);
}

void end(const void* variable, uint64_t size, const char* name, uint32_t begun, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  Thread& thread = *this_thread;
  if (begun != kTookLock) {
    if (is_of_no_consequence(thread)) return;
    begin_atomic(variable);
    const Sync& sync = *thread.locked_variable;
    if (sync.version.load(std::memory_order_relaxed) != begun + 1) doubt_place(thread, sync);
  }
  end_atomic(variable, size, kAtomicRead | kAtomicWrite, 0, name, pc);
}

}  // namespace

// From code with fences, before anything else that it does; and from that of other compilers, which may have
// some. A fence lets the thread learn from what it read before.
HEDDLE_INTERPOSE void heddle_expect_fences() { has_fences.store(true); }
HEDDLE_INTERPOSE void __tsan_init() { has_fences.store(true); }

HEDDLE_INTERPOSE uint32_t heddle_begin_relaxed_update(const void* variable, uint64_t size) {
  return begin(variable, size);
}
HEDDLE_INTERPOSE void heddle_end_relaxed_update(const void* variable, uint64_t size, const char* name,
                                                uint32_t begun) {
  end(variable, size, name, begun, HEDDLE_HERE);
}

}  // namespace heddle::runtime
