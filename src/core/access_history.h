// What is remembered of one variable's accesses: those a later one may still race with.
//
// Nearly all variables need only their last write and last read (FastTrack's epochs). A variable that is read
// by several threads at once, is accessed atomically, or has raced gets an AccessHistory: the latest access
// of each thread, by kind. An access that happened before a plain write is dropped at that write: whatever
// races with it later races with the write too.
//
// An Access is whatever its user wants to know of one later; it has a member `Epoch epoch`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/vector_clock.h"
#include "trace/event.h"

namespace heddle {

// The latest access of each thread. Small sets are searched; past kSearched entries an index by thread is
// kept.
template <class Access>
class AccessSet {
 public:
  bool empty() const { return entries_.empty(); }
  const std::vector<Access>& entries() const { return entries_; }
  std::vector<Access>& entries() { return entries_; }

  // Replaces the access of the same thread, if there is one.
  void put(const Access& access) {
    if (Access* known = find(access.epoch.thread())) {
      *known = access;
      return;
    }
    entries_.push_back(access);
    if (entries_.size() > kSearched) rebuild_index();
  }

  // Drops the accesses that happened before `now`.
  void drop_known(const ThreadClock& now) {
    drop_if([&](const Access& access) { return now.knows(access.epoch); });
  }

  template <class Drop>
  void drop_if(Drop drop) {
    const auto kept = std::remove_if(entries_.begin(), entries_.end(), drop);
    if (kept == entries_.end()) return;
    entries_.erase(kept, entries_.end());
    index_.clear();
    if (entries_.size() > kSearched) rebuild_index();
  }

  void clear() {
    entries_.clear();
    index_.clear();
  }

 private:
  static constexpr std::size_t kSearched = 8;

  Access* find(ThreadId thread) {
    if (index_.empty()) {
      for (Access& access : entries_)
        if (access.epoch.thread() == thread) return &access;
      return nullptr;
    }
    if (thread >= index_.size() || index_[thread] == kNoId) return nullptr;
    return &entries_[index_[thread]];
  }

  void rebuild_index() {
    // Called with one entry more than the index covers, or with an empty index: O(1) amortized over put().
    const std::size_t first = index_.empty() ? 0 : entries_.size() - 1;
    for (std::size_t i = first; i < entries_.size(); ++i) {
      const ThreadId thread = entries_[i].epoch.thread();
      if (thread >= index_.size()) index_.resize(std::max<std::size_t>(thread + 1, index_.size() * 2), kNoId);
      index_[thread] = static_cast<uint32_t>(i);
    }
  }

  std::vector<Access> entries_;  // one per thread, in no order
  std::vector<uint32_t> index_;  // by thread: position in entries_ or kNoId; empty while entries_ is small
};

template <class Access>
struct AccessHistory {
  AccessSet<Access> writes;
  AccessSet<Access> reads;
  AccessSet<Access> atomic_writes;  // stores and read-modify-writes
  AccessSet<Access> atomic_reads;

  bool empty() const {
    return writes.empty() && reads.empty() && atomic_writes.empty() && atomic_reads.empty();
  }
  void clear() {
    writes.clear();
    reads.clear();
    atomic_writes.clear();
    atomic_reads.clear();
  }
};

}  // namespace heddle
