// Sets of locks, each set kept once: equal sets have equal ids, so comparing two is comparing two numbers.
//
// A lock is in a set in one mode, exclusive or shared. Results of all operations are remembered; an operation
// on sets met before costs one hash lookup, and the number of sets grows with the different ones that occur,
// not with the trace. References: hash consing; Eraser (Savage et al. 1997, §3) uses it for the same purpose.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "trace/event.h"
#include "trace/names.h"

namespace heddle {

using LocksetId = uint32_t;
inline constexpr LocksetId kEmptyLockset = 0;

struct HeldLock {
  uint32_t lock = kNoId;
  bool shared = false;

  friend bool operator==(const HeldLock&, const HeldLock&) = default;
};

enum class Hold : uint8_t { kNone, kShared, kExclusive };

class LocksetTable {
 public:
  LocksetTable();

  // `set` and the lock; a lock already in it changes its mode.
  LocksetId add(LocksetId set, uint32_t lock, bool shared);
  // `set` without the lock.
  LocksetId remove(LocksetId set, uint32_t lock);
  // The locks in both; exclusive where both are.
  LocksetId intersect(LocksetId a, LocksetId b);
  // The locks that are exclusive in `set`.
  LocksetId exclusive_part(LocksetId set) const { return sets_[set].exclusive_part; }
  // The same locks, all exclusive: the set without its modes.
  LocksetId without_modes(LocksetId set);

  // Whether no lock is in both, in whatever mode.
  bool disjoint(LocksetId a, LocksetId b) { return intersect(a, b) == kEmptyLockset; }
  // Whether two threads can hold these sets at the same time: no lock is in both, except shared in both.
  bool compatible(LocksetId a, LocksetId b) const;

  // The mode of a lock in a set.
  Hold find(LocksetId set, uint32_t lock) const;
  // By ascending lock id. Valid until the next operation that makes a set.
  std::span<const HeldLock> members(LocksetId set) const;
  uint32_t size() const { return static_cast<uint32_t>(sets_.size()); }

  // "mu and lk (shared)"; empty for the empty set.
  std::string list(LocksetId set, const Names& names) const;
  // "holding mu and lk (shared)", "holding no lock".
  std::string describe(LocksetId set, const Names& names) const;

 private:
  struct Set {
    std::size_t first = 0;            // its members start here in members_
    uint32_t count = 0;               // how many there are
    LocksetId exclusive_part = 0;     // the set of its exclusive members
    LocksetId without_modes = kNoId;  // the same locks all exclusive; kNoId: not asked for yet
    LocksetId same_hash = kNoId;      // another set whose members have the same hash
  };
  using Memo = tsl::robin_map<uint64_t, uint32_t, MixHash>;

  // The set of these members, ascending by lock.
  LocksetId intern(std::span<const HeldLock> members);
  LocksetId find_equal(uint64_t hash, std::span<const HeldLock> members) const;

  std::vector<Set> sets_;            // by id
  std::vector<HeldLock> members_;    // of all sets, one after the other
  Memo by_hash_;                     // hash of the members → the latest set with it
  Memo added_;                       // (set, lock, mode) → add
  Memo removed_;                     // (set, lock) → remove
  Memo intersected_;                 // (smaller id, greater id) → intersect
  std::vector<HeldLock> scratch_;    // members of the set being made
  std::vector<HeldLock> exclusive_;  // the exclusive ones of them
};

// What each thread holds at the present event. Feed it every acquire and release; Operation::kNested is no
// change.
class HeldLocks {
 public:
  explicit HeldLocks(LocksetTable& table) : table_(table) {}

  void acquire(ThreadId thread, uint32_t lock, bool shared) {
    LocksetId& held = slot(thread);
    held = table_.add(held, lock, shared);
  }
  void release(ThreadId thread, uint32_t lock) {
    LocksetId& held = slot(thread);
    held = table_.remove(held, lock);
  }
  // The same as `other`, whose table the own one is a copy of.
  void copy_from(const HeldLocks& other) { held_ = other.held_; }
  LocksetId of(ThreadId thread) const { return thread < held_.size() ? held_[thread] : kEmptyLockset; }

 private:
  LocksetId& slot(ThreadId thread) {
    if (thread >= held_.size()) held_.resize(thread + std::size_t{1}, kEmptyLockset);
    return held_[thread];
  }

  LocksetTable& table_;
  std::vector<LocksetId> held_;  // by thread
};

}  // namespace heddle
