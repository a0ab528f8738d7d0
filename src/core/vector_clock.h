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
//
// For up to kMostFlat threads it is an array. For more it is a tree with the times in its leaves, so that
// only the way to what changes is copied, and what two tables share need not be compared: a program may start
// thousands of threads, each with a table of all before it.
class TimeTable {
 public:
  TimeTable() = default;
  TimeTable(const TimeTable& other) : root_(share(other.root_)) {}
  TimeTable(TimeTable&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
  TimeTable& operator=(TimeTable other) noexcept {
    std::swap(root_, other.root_);
    return *this;
  }
  ~TimeTable() { release(root_); }

  Time operator[](ThreadId thread) const {
    const Node* node = root_;
    if (node == nullptr) return 0;
    for (unsigned shift = node->shift; shift > 0; shift -= kBits) {
      const ThreadId branch = thread >> shift;
      node = branch < node->size ? node->children()[branch] : nullptr;
      if (node == nullptr) return 0;
      thread &= (ThreadId{1} << shift) - 1;
    }
    return thread < node->size ? node->times()[thread] : 0;
  }
  void raise(ThreadId thread, Time time);  // to at least `time`
  void raise_all(const TimeTable& other);  // pointwise maximum
  void clear() { *this = TimeTable(); }
  bool is_empty() const { return root_ == nullptr; }

 private:
  static constexpr unsigned kBits = 5;
  static constexpr uint32_t kFan = 1U << kBits;       // most entries of a node of a tree
  static constexpr uint32_t kMostFlat = kFan * kFan;  // most entries of an array, which is a lone leaf

  // Followed by its entries: times in a leaf, children (null: all zero) in other nodes.
  struct Node {
    uint32_t references;  // by tables and by nodes
    uint16_t shift;       // bits of a thread's number that are told apart further down; 0: a leaf
    uint16_t size;        // entries; those past it are zero

    Time* times() { return reinterpret_cast<Time*>(this + 1); }
    const Time* times() const { return reinterpret_cast<const Time*>(this + 1); }
    Node** children() { return reinterpret_cast<Node**>(this + 1); }
    Node* const* children() const { return reinterpret_cast<Node* const*>(this + 1); }
  };

  static Node* share(Node* node) {
    if (node != nullptr) ++node->references;
    return node;
  }
  static void release(Node* node) {
    if (node != nullptr && --node->references == 0) destroy(node);
  }
  static Node* allocate(unsigned shift, uint32_t size);
  static void destroy(Node* node);
  // Makes the node ours alone and at least `size` entries long; it may be null.
  static void own(Node*& node, unsigned shift, uint32_t size);
  static void raise_leaf(Node*& mine, const Node* theirs);
  // Makes `mine` the maximum of both, which are equally high parts of trees.
  static void raise_part(Node*& mine, Node* theirs);
  // Makes the root at least as high, and a tree of an array.
  void grow(unsigned shift);

  Node* root_ = nullptr;  // null: all zero
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
  // The thread is over, and nobody will ask what it knew.
  void forget() { times_.clear(); }
  // The clock up to and including the present, for others to join; time moves on.
  VectorClock publish();

 private:
  TimeTable times_;  // of the other threads; its entry for thread_ means nothing
  ThreadId thread_;
  Time time_ = 1;
};

}  // namespace heddle
