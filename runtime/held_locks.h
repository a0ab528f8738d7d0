// The locks that a thread has, in the order taken, and what the monitor knows of them.
//
// While the program is calm (runtime/calm.h) most of them are not told. What must be told is a lock taken
// while others are held in a way that the thread has not told before: `deadlock` collects those ways. What
// makes two ways different is the same as in src/live/sieve.cpp.
#pragma once

#include <cstdint>

#include "runtime/growing_array.h"
#include "trace/event.h"

namespace heddle::runtime {

struct HeldLock {
  const void* lock;
  const void* pc;
  Operation operation;  // by which it was taken
  uint32_t extra;       // as told
  uint32_t context;     // of the call stack
  uint32_t depth;       // how often it was taken
  uint32_t blocks;      // that the thread was in then, and has not left since
  bool is_told = false;
  uint64_t way = 0;  // a hash: how it and those before it were taken

  bool is_shared() const { return operation == Operation::kAcquireShared; }
  // Odd factors, one for each part: what differs in one part alone has another hash.
  static uint64_t way_after(uint64_t before, const HeldLock& taken) {
    const uint64_t lock =
        reinterpret_cast<uint64_t>(taken.lock) << 1 | static_cast<uint64_t>(taken.is_shared());
    const uint64_t hash = (before ^ before >> 31) * 0x9E3779B97F4A7C15 + lock * 0xBF58476D1CE4E5B9 +
                          reinterpret_cast<uint64_t>(taken.pc) * 0x94D049BB133111EB +
                          taken.context * 0xD6E8FEB86659FD93;
    return hash ^ hash >> 29;
  }
};

class HeldLocks {
 public:
  HeldLocks() = default;
  HeldLocks(const HeldLocks&) = delete;
  HeldLocks& operator=(const HeldLocks&) = delete;
  ~HeldLocks();

  bool empty() const { return locks_.empty(); }
  void clear() {
    locks_.clear();
    untold_ = 0;
    begin_anew();
  }
  // Null: the thread does not have it.
  HeldLock* find(const void* lock, bool is_shared);
  [[gnu::always_inline]] void add(const HeldLock& lock) {
    // Field by field: a copy would wait for what was just stored.
    HeldLock& added = locks_.add();
    added.lock = lock.lock;
    added.pc = lock.pc;
    added.operation = lock.operation;
    added.extra = lock.extra;
    added.context = lock.context;
    added.depth = lock.depth;
    added.blocks = lock.blocks;
    added.is_told = lock.is_told;
    added.way = way_of(lock, locks_.size() - 1);
    untold_ += !lock.is_told;
  }
  void remove(const HeldLock* lock);
  // The thread is in so many blocks only.
  void leave_blocks(uint32_t blocks) {
    for (uint32_t i = locks_.size(); i > 0 && locks_[i - 1].blocks > blocks; --i)
      locks_[i - 1].blocks = blocks;
  }

  bool any_untold() const { return untold_ > 0; }
  // Says that those are told now that were taken in at most so many blocks: `visit(lock)`, in the order
  // taken.
  template <class Visit>
  void tell_untold(uint32_t blocks, Visit visit) {
    for (uint32_t i = 0; untold_ > 0 && i < locks_.size(); ++i) {
      if (locks_[i].is_told || locks_[i].blocks > blocks) continue;
      locks_[i].is_told = true;
      --untold_;
      visit(locks_[i]);
    }
  }

  // Others are met in an order that no schedule changes, or could be.
  void meet() {
    ++meetings_;
    has_met_ |= !empty();
  }
  // Whether the thread has not told yet that it takes the lock with those that it has.
  bool is_new_order(const HeldLock& taken);

 private:
  static constexpr uint32_t kOrders = 1U << 13;

  // Of this one with the first `before` ones.
  uint64_t way_of(const HeldLock& lock, uint32_t before) const {
    return HeldLock::way_after(before == 0 ? 0 : locks_[before - 1].way, lock);
  }
  void begin_anew() { is_crossed_ = has_tried_ = has_met_ = false; }

  GrowingArray<HeldLock> locks_;
  uint32_t untold_ = 0;
  uint64_t meetings_ = 0;
  // Since it had no lock:
  bool is_crossed_ = false;     // some were not given back in reverse order
  bool has_tried_ = false;      // it has given back one that it took without waiting for it
  bool has_met_ = false;        // it has met others
  uint64_t* orders_ = nullptr;  // told ones, by their hashes
};

// A lock has ended: one that lies in its place is another.
void end_life_of_locks();

}  // namespace heddle::runtime
