// Who holds which lock and who waits for what, at the end of a trace that is still growing.
//
// A thread that waits does nothing else. So if each of some threads waits for a lock that the next one holds,
// or for its end, and the last one for the first, none of them can ever go on: that is a deadlock, not only
// the danger of one.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/event.h"

namespace heddle {

// A lock, as some thread has taken it.
struct TakenLock {
  uint32_t lock = kNoId;
  ThreadId thread = kNoId;
  SiteId site = kNoId;   // where
  EventIndex index = 0;  // when
  bool is_shared = false;
};

struct Wait {
  enum class For : uint8_t {
    kNothing,     // the thread does not wait, as far as is known
    kLock,        // until nobody else has it
    kSharedLock,  // until nobody else has it alone
    kCondition,
    kSemaphore,
    kBarrier,
    kThread,  // until it ends
  };
  For what = For::kNothing;
  uint32_t object = kNoId;  // an id in the space that `what` says
  SiteId site = kNoId;
  EventIndex index = 0;  // of the next event of the trace

  bool is_for_lock() const { return what == For::kLock || what == For::kSharedLock; }
};

// A thread that waits for the next one of a circle.
struct BlockedThread {
  ThreadId thread = kNoId;
  Wait wait;
  TakenLock held;               // what the one before waits for; no lock: for the end of this thread
  std::vector<uint32_t> locks;  // all that it holds
};

class Waits {
 public:
  // Every event of the trace, in order.
  void follow(const Event& event, EventIndex index);
  // The thread begins to wait. It goes on with the event that it waits for, or when it gives up.
  void begin(ThreadId thread, const Wait& wait) { of(thread).wait = wait; }
  void give_up(ThreadId thread) { of(thread).wait = {}; }

  // The threads, from `first` on, that each wait for the next one, at least one of them for a lock; empty:
  // somebody can go on. (Threads that only wait for each other's ends are told so by the system.)
  std::vector<BlockedThread> circle_of(ThreadId first) const;

  struct Thread {
    Wait wait;
    SiteId last = kNoId;  // where its last event was
    uint32_t held = 0;    // locks, as often as it has them
    bool is_over = false;
  };
  const std::vector<Thread>& threads() const { return threads_; }  // by id
  uint32_t count_held_by(ThreadId thread) const {
    return thread < threads_.size() ? threads_[thread].held : 0;
  }
  // What the thread holds, in the order of the locks' ids.
  std::vector<TakenLock> held_by(ThreadId thread) const;
  // Those who have the lock that the wait is for, or the thread whose end it is for.
  std::vector<ThreadId> awaited(const Wait& wait) const;

 private:
  Thread& of(ThreadId thread) {
    if (thread >= threads_.size()) threads_.resize(thread + std::size_t{1});
    return threads_[thread];
  }
  std::vector<TakenLock>& takers(uint32_t lock) {
    if (lock >= taken_.size()) taken_.resize(lock + std::size_t{1});
    return taken_[lock];
  }
  BlockedThread blocked(ThreadId thread, const Wait& awaiting) const;

  std::vector<Thread> threads_;                // by id
  std::vector<std::vector<TakenLock>> taken_;  // by lock; a recursive one as often as it was taken
};

}  // namespace heddle
