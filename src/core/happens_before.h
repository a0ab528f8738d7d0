// Happens-before over synchronization: the clock of every thread, moved by every event that orders threads.
//
// What orders (ALGORITHMS §1, §2; docs/design/happens-before.md):
//   program order; fork(u) → u's events → join(u);
//   release(m) → a later acquire(m), unless both are shared;
//   arrive(b) → every leave(b) of the same phase; post(s) → every later wait(s);
//   C++20 release/acquire through an atomic variable: a load synchronizes with the release sequence that the
//   latest store belongs to (the store and the read-modify-writes after it), with fences as in
//   [atomics.fences].
// notify and wake order nothing. A plain write to an atomic variable ends its release sequence, and so do
// alloc/free.
//
// Cost: O(1) per event except where a join brings news, then up to O(threads), less what both sides share. A
// thread that has ended costs O(log threads) memory: what only its clock has of the tables in vector_clock.h.
#pragma once

#include <tsl/robin_map.h>

#include <deque>
#include <vector>

#include "core/barrier_phases.h"
#include "core/vector_clock.h"
#include "trace/event.h"

namespace heddle {

class HappensBefore {
 public:
  // What comes under its number is another lock.
  void end_lock(uint32_t lock) { at(locks_, lock) = {}; }

  // The clock of a thread; a thread never heard of begins now. The reference lasts until the next call with a
  // new thread.
  ThreadClock& clock(ThreadId thread) {
    if (thread >= threads_.size()) add_threads(thread);
    return threads_[thread].clock;
  }

  // Any event except accesses to memory; events that order nothing are passed over.
  void synchronize(const Event& event);

  // An atomic access is two halves: what it learns before it is compared with other accesses, and what it
  // publishes after.
  void before_atomic(const Event& event);
  void after_atomic(const Event& event);

  // A plain write to, or a new life of, a variable that may be atomic as well.
  void forget_releases(uint32_t variable);

 private:
  struct Thread {
    explicit Thread(ThreadId id) : clock(id) {}
    ThreadClock clock;
    VectorClock at_release_fence;     // what relaxed stores publish; empty without a release fence
    VectorClock until_acquire_fence;  // what relaxed loads have seen, to be learnt at the next acquire fence
  };
  struct Lock {
    VectorClock exclusive;  // the latest exclusive release
    VectorClock shared;     // shared releases since
  };

  void add_threads(ThreadId thread);
  template <class T>
  static T& at(std::vector<T>& items, uint32_t id) {
    if (id >= items.size()) items.resize(id + 1);
    return items[id];
  }
  VectorClock& releases_of(uint32_t variable);
  void fence(const Event& event);

  std::vector<Thread> threads_;                       // by thread
  std::vector<Lock> locks_;                           // by lock
  std::vector<VectorClock> semaphores_;               // by semaphore: all posts so far
  std::vector<VectorClock> syncs_;                    // by object of sync: all of them so far
  std::vector<BarrierPhases<VectorClock>> barriers_;  // by barrier
  std::vector<uint32_t> releases_index_;  // by variable: index into releases_, kNoId if never atomic
  std::deque<VectorClock> releases_;      // the release sequence of the variable's latest store
};

}  // namespace heddle
