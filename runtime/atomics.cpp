// Atomic operations and fences of C++20, as the compiler plug-in marks them.
//
// The operation itself stays in the program. It happens between heddle_begin_atomic() and
// heddle_end_atomic(), which hold the variable's lock, so that what is known of the variable follows the
// order in which it really changed. A load synchronizes with the release sequence of the latest store: the
// store and the read-modify-writes after it.
#include "runtime/atomics.h"

#include "runtime/interpose/real.h"
#include "runtime/rare_access.h"
#include "runtime/sync.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

void join_published(Clock& clock, Thread& thread) {
  const Published published = thread.publish();
  clock.join(published);
}

}  // namespace

HEDDLE_INTERPOSE void heddle_begin_atomic(const void* variable) {
  if (heddle_thread_state.thread != nullptr) sync_at(variable).lock.lock();
}

HEDDLE_INTERPOSE void heddle_end_atomic(const void* variable, uint64_t size, uint32_t kind, uint32_t order) {
  if (heddle_thread_state.thread == nullptr) return;
  Thread& thread = *this_thread;
  Sync& sync = sync_at(variable);
  const bool reads = (kind & kAtomicRead) != 0;
  const bool writes = (kind & kAtomicWrite) != 0;
  if (reads) {
    if ((order & kAcquires) != 0) {
      thread.acquire(sync.gathered);
    } else {
      thread.until_acquire_fence.join(sync.gathered);
    }
  }
  rare_access(variable, size | kIsAtomic | (writes ? kWrites : 0), nullptr, __builtin_return_address(0));
  if (writes) {
    if (!reads) sync.gathered.clear();  // a store begins a new release sequence
    if ((order & kReleases) != 0) {
      join_published(sync.gathered, thread);
    } else {
      sync.gathered.join(thread.at_release_fence);
    }
  }
  sync.lock.unlock();
}

HEDDLE_INTERPOSE void heddle_fence(uint32_t order) {
  if (heddle_thread_state.thread == nullptr) return;
  Thread& thread = *this_thread;
  if ((order & kAcquires) != 0) thread.acquire(thread.until_acquire_fence);
  if ((order & kReleases) != 0) {
    thread.at_release_fence.clear();
    join_published(thread.at_release_fence, thread);
  }
}

}  // namespace heddle::runtime
