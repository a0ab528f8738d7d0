// The order that holds in every schedule of the trace's operations: program order, fork and join, a barrier's
// arrivals before its departures, a semaphore's posts before a later wait, what is handed over
// (is_hand_over()) before a later wait for it. Locks and atomics force nothing:
// another schedule may take them in another order.
//
// Along with the order goes doubt: whether the past of a thread ends with some other thread inside a critical
// section (the latest that is known of it is that it forked, posted, arrived or ended while holding a lock).
// A schedule that stops everybody where that past ends then leaves a lock held; where there is no doubt, it
// leaves every lock free. Learning more of the other thread can end the doubt.
#pragma once

#include <cstdint>
#include <vector>

#include "core/barrier_phases.h"
#include "core/lockset.h"
#include "core/vector_clock.h"
#include "trace/event.h"

namespace heddle {

class ForcedOrder {
 public:
  explicit ForcedOrder(const HeldLocks& held) : held_(held) {}

  // A thread acts. Returns whether it is new and nobody forked it: nothing known orders it after anything.
  bool meet(ThreadId thread) {
    if (thread < threads_.size() && threads_[thread].life == Life::kRunning) return false;
    return meet_first(thread);
  }
  // Takes in a fork, join, arrive, leave, post, wait, hand-over or end of a thread that was met.
  void update(const Event& event);

  // The thread's clock now. Events of one thread with the same stretch have the same clock.
  const ThreadClock& clock(ThreadId thread) const { return threads_[thread].clock; }
  uint64_t stretch(ThreadId thread) const { return threads_[thread].stretch; }
  // Whether the thread's past leaves a lock held by another thread.
  bool past_holds_lock(ThreadId thread) const { return !threads_[thread].inside.empty(); }

  // The latest time of `thread` that everything still to come from other threads is known to be after, as
  // long as no thread appears that nobody forked.
  Time settled(ThreadId thread) const;

 private:
  // Moments at which a thread handed on its past while it held a lock, one per thread, by ascending thread.
  using Moments = std::vector<Epoch>;
  // What one thread hands to another at a synchronization.
  struct Past {
    VectorClock clock;
    Moments inside;  // where the past ends inside a critical section

    void join(const Past& other);
  };
  enum class Life : uint8_t { kUnknown, kForked, kRunning, kEnded };
  struct Thread {
    explicit Thread(ThreadId id) : clock(id) {}

    ThreadClock clock;
    uint64_t stretch = 0;  // number of the latest change of the clock, over all threads
    Life life = Life::kUnknown;
    Moments inside;  // where its past ends inside another thread's critical section
  };

  bool meet_first(ThreadId thread);
  Thread& thread(ThreadId id);
  Past publish(ThreadId id);
  void receive(ThreadId id, const Past& past);

  const HeldLocks& held_;
  std::vector<Thread> threads_;                // by thread
  std::vector<Past> semaphores_;               // by semaphore: all posts so far
  std::vector<Past> handed_over_;              // by the same: what those who wait go on after
  std::vector<BarrierPhases<Past>> barriers_;  // by barrier
  uint64_t stretches_ = 0;                     // changes of clocks so far
};

}  // namespace heddle
