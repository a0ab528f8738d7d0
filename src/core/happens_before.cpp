#include "core/happens_before.h"

#include <fmt/format.h>

#include "base/error.h"

namespace heddle {

void HappensBefore::add_threads(ThreadId thread) {
  if (thread >= Epoch::kMostThreads)
    throw InputError(
        fmt::format("the trace has more than {} threads, which clocks cannot number", Epoch::kMostThreads));
  while (threads_.size() <= thread) threads_.emplace_back(static_cast<ThreadId>(threads_.size()));
}

VectorClock& HappensBefore::releases_of(uint32_t variable) {
  if (variable >= releases_index_.size()) releases_index_.resize(variable + 1, kNoId);
  uint32_t& index = releases_index_[variable];
  if (index == kNoId) {
    index = static_cast<uint32_t>(releases_.size());
    releases_.emplace_back();
  }
  return releases_[index];
}

void HappensBefore::forget_releases(uint32_t variable) {
  if (variable < releases_index_.size() && releases_index_[variable] != kNoId)
    releases_[releases_index_[variable]].clear();
}

void HappensBefore::synchronize(const Event& event) {
  switch (event.operation) {
    case Operation::kAcquire: {
      const Lock& lock = at(locks_, event.object);
      clock(event.thread).join(lock.exclusive);
      clock(event.thread).join(lock.shared);
      return;
    }
    case Operation::kRelease: {
      Lock& lock = at(locks_, event.object);
      lock.exclusive = clock(event.thread).publish();
      lock.shared.clear();  // the releaser had learnt it when it acquired
      return;
    }
    case Operation::kAcquireShared: clock(event.thread).join(at(locks_, event.object).exclusive); return;
    case Operation::kReleaseShared:
      at(locks_, event.object).shared.join(clock(event.thread).publish());
      return;
    case Operation::kFork: {
      const VectorClock parent = clock(event.thread).publish();
      clock(event.object).join(parent);
      return;
    }
    case Operation::kJoin: {
      const VectorClock child = clock(event.object).publish();
      clock(event.thread).join(child);
      // The child does nothing any more. Its clock stays if it may be joined again, by others.
      if (is_last_join(event)) threads_[event.object].clock.forget();
      threads_[event.object].at_release_fence.clear();
      threads_[event.object].until_acquire_fence.clear();
      return;
    }
    case Operation::kArrive:
      at(barriers_, event.object).arrive(event.thread, clock(event.thread).publish());
      return;
    case Operation::kLeave: clock(event.thread).join(at(barriers_, event.object).leave(event.thread)); return;
    case Operation::kPost: at(semaphores_, event.object).join(clock(event.thread).publish()); return;
    case Operation::kWait: clock(event.thread).join(at(semaphores_, event.object)); return;
    case Operation::kSync: {
      VectorClock& all = at(syncs_, event.object);
      clock(event.thread).join(all);
      all.join(clock(event.thread).publish());
      return;
    }
    case Operation::kFence: return fence(event);
    case Operation::kAlloc:
    case Operation::kFree: return forget_releases(event.object);
    case Operation::kRead:
    case Operation::kWrite:
    case Operation::kAtomicRead:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail:
    case Operation::kThreadBegin:
    case Operation::kThreadEnd:
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic:
    case Operation::kEnd:
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kCommit:
    case Operation::kTaskBegin:
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kCount:
    case Operation::kTake:
    case Operation::kDrop:
    case Operation::kAlive:
    case Operation::kFocus:
    case Operation::kNested: return;
  }
}

void HappensBefore::fence(const Event& event) {
  ThreadClock& now = clock(event.thread);
  Thread& thread = threads_[event.thread];
  if (acquires(event.order)) {
    now.join(thread.until_acquire_fence);
    thread.until_acquire_fence.clear();
  }
  if (releases(event.order)) thread.at_release_fence = now.publish();
}

void HappensBefore::before_atomic(const Event& event) {
  if (event.operation == Operation::kAtomicWrite) return;  // a store reads nothing
  ThreadClock& now = clock(event.thread);
  const VectorClock& releases = releases_of(event.object);
  if (acquires(event.order)) {
    now.join(releases);
  } else {
    threads_[event.thread].until_acquire_fence.join(releases);
  }
}

void HappensBefore::after_atomic(const Event& event) {
  const bool update = event.operation == Operation::kAtomicUpdate;
  if (!update && event.operation != Operation::kAtomicWrite) return;  // a load publishes nothing
  ThreadClock& now = clock(event.thread);
  VectorClock& sequence = releases_of(event.object);
  if (!update)
    sequence.clear();  // a store begins a new release sequence, an update continues the one it reads
  if (releases(event.order)) {
    sequence.join(now.publish());
  } else {
    sequence.join(threads_[event.thread].at_release_fence);
  }
}

}  // namespace heddle
