// Logical time: how far into each thread's past something reaches.
//
// A thread's own time moves on only when it publishes its clock (releases a lock, forks, …), so all its
// operations between two publications share one Epoch. That makes copying cheap: a published clock is the
// publisher's table of *other* threads' times, shared until somebody changes it, plus one number of its own.
// Publishing is O(1); joining costs O(threads) only when it brings news, and whether it does is one
// comparison: who has seen the publisher's time has seen everything the publisher knew then.
#pragma once

#include <cstdint>
#include <utility>

#include "trace/event.h"

namespace heddle {

using Time = uint64_t;  // per thread, from 1; 0: nothing of that thread

// One moment of one thread, packed so that "same moment?" is one comparison.
class Epoch {
 public:
  static constexpr unsigned kTimeBits = 40;
  static constexpr ThreadId kMostThreads = ThreadId{1} << (64 - kTimeBits);

  constexpr Epoch() = default;  // never
  constexpr Epoch(ThreadId thread, Time time) : bits_(uint64_t{thread} << kTimeBits | time) {}

  constexpr ThreadId thread() const { return static_cast<ThreadId>(bits_ >> kTimeBits); }
  constexpr Time time() const { return bits_ & ((uint64_t{1} << kTimeBits) - 1); }
  constexpr bool is_never() const { return bits_ == 0; }
  friend constexpr bool operator==(Epoch, Epoch) = default;

 private:
  uint64_t bits_ = 0;
};

// A table thread → time, copied lazily: copies share their memory until one of them is changed.
class TimeTable {
 public:
  TimeTable() = default;
  TimeTable(const TimeTable& other);
  TimeTable(TimeTable&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  TimeTable& operator=(TimeTable other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~TimeTable();

  Time operator[](ThreadId thread) const {
    return block_ != nullptr && thread < block_->size ? block_->times()[thread] : 0;
  }
  void raise(ThreadId thread, Time time);  // to at least `time`
  void raise_all(const TimeTable& other);  // pointwise maximum
  void clear() { *this = TimeTable(); }
  bool is_empty() const { return block_ == nullptr; }

 private:
  struct Block {
    uint32_t references;
    uint32_t size;
    Time* times() { return reinterpret_cast<Time*>(this + 1); }
  };
  static Block* allocate(uint32_t size);
  // Makes the block ours alone and at least `size` entries long.
  void own(uint32_t size);

  Block* block_ = nullptr;  // null: all zero
};

// A clock as it lies in a lock, a semaphore, an atomic: one thread's past, or the union of several.
class VectorClock {
 public:
  Time time_of(ThreadId thread) const { return thread == leader_ ? leader_time_ : times_[thread]; }
  bool knows(Epoch epoch) const { return epoch.time() <= time_of(epoch.thread()); }
  void join(const VectorClock& other);
  void clear() { *this = VectorClock(); }
  bool is_empty() const { return leader_ == kNoId && times_.is_empty(); }

 private:
  friend class ThreadClock;

  TimeTable times_;
  ThreadId leader_ = kNoId;  // whose published clock this is; kNoId: a union
  Time leader_time_ = 0;     // the leader's time, which times_ need not have
};

// The clock of a running thread.
class ThreadClock {
 public:
  explicit ThreadClock(ThreadId thread) : thread_(thread) {}

  // The present moment.
  Epoch epoch() const { return Epoch(thread_, time_); }
  Time time_of(ThreadId thread) const { return thread == thread_ ? time_ : times_[thread]; }
  // Whether `epoch` happened before the present, or is it.
  bool knows(Epoch epoch) const { return epoch.time() <= time_of(epoch.thread()); }
  void join(const VectorClock& other);
  // The clock up to and including the present, for others to join; time moves on.
  VectorClock publish();

 private:
  TimeTable times_;  // of the other threads; its entry for thread_ means nothing
  ThreadId thread_;
  Time time_ = 1;
};

}  // namespace heddle
