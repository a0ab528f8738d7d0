#include "core/lockset.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace heddle {

namespace {

// Set ids stay below 2^31, so that a set, a lock and its mode fit into one key.
uint64_t key(LocksetId set, HeldLock held) {
  return uint64_t{set} << 33 | uint64_t{held.lock} << 1 | (held.shared ? 1U : 0U);
}

uint64_t unordered_key(LocksetId a, LocksetId b) { return uint64_t{std::min(a, b)} << 32 | std::max(a, b); }

}  // namespace

LocksetTable::LocksetTable() { sets_.emplace_back().without_modes = kEmptyLockset; }

std::span<const HeldLock> LocksetTable::members(LocksetId set) const {
  return std::span(members_).subspan(sets_[set].first, sets_[set].count);
}

LocksetId LocksetTable::append(LocksetId prefix, HeldLock last) {
  const uint64_t where = key(prefix, last);
  if (const auto known = extended_.find(where); known != extended_.end()) return known->second;
  const LocksetId exclusive_prefix = sets_[prefix].exclusive_part;
  const bool all_exclusive = exclusive_prefix == prefix && !last.shared;
  const LocksetId exclusive_part =
      all_exclusive ? kNoId : (last.shared ? exclusive_prefix : append(exclusive_prefix, last));
  const LocksetId id = size();
  const Set& from = sets_[prefix];
  Set set;
  set.first = members_.size();
  set.count = from.count + 1;
  set.exclusive_part = all_exclusive ? id : exclusive_part;
  set.without_modes = all_exclusive ? id : kNoId;
  for (uint32_t i = 0; i < from.count; ++i) members_.push_back(HeldLock(members_[from.first + i]));
  members_.push_back(last);
  sets_.push_back(set);
  extended_.emplace(where, id);
  return id;
}

LocksetId LocksetTable::intern(std::span<const HeldLock> members) {
  LocksetId set = kEmptyLockset;
  for (const HeldLock held : members) set = append(set, held);
  return set;
}

LocksetId LocksetTable::add(LocksetId set, uint32_t lock, bool shared) {
  const uint64_t where = key(set, {lock, shared});
  if (const auto known = added_.find(where); known != added_.end()) return known->second;
  const std::span<const HeldLock> old = members(set);
  const auto place = std::lower_bound(
      old.begin(), old.end(), lock, [](const HeldLock& held, uint32_t wanted) { return held.lock < wanted; });
  scratch_.assign(old.begin(), place);
  scratch_.push_back({lock, shared});
  scratch_.insert(scratch_.end(), place != old.end() && place->lock == lock ? place + 1 : place, old.end());
  const LocksetId result = intern(scratch_);
  added_.emplace(where, result);
  return result;
}

LocksetId LocksetTable::remove(LocksetId set, uint32_t lock) {
  const uint64_t where = uint64_t{set} << 32 | lock;
  if (const auto known = removed_.find(where); known != removed_.end()) return known->second;
  scratch_.clear();
  for (const HeldLock held : members(set))
    if (held.lock != lock) scratch_.push_back(held);
  const LocksetId result = intern(scratch_);
  removed_.emplace(where, result);
  return result;
}

LocksetId LocksetTable::intersect(LocksetId a, LocksetId b) {
  if (a == b || a == kEmptyLockset) return a;
  if (b == kEmptyLockset) return b;
  const uint64_t where = unordered_key(a, b);
  if (const auto known = intersected_.find(where); known != intersected_.end()) return known->second;
  scratch_.clear();
  for (const HeldLock held : members(a)) {
    const Hold other = find(b, held.lock);
    if (other != Hold::kNone) scratch_.push_back({held.lock, held.shared || other == Hold::kShared});
  }
  const LocksetId result = intern(scratch_);
  intersected_.emplace(where, result);
  return result;
}

LocksetId LocksetTable::without_modes(LocksetId set) {
  if (sets_[set].without_modes == kNoId) {
    scratch_.clear();
    for (const HeldLock held : members(set)) scratch_.push_back({held.lock, false});
    const LocksetId result = intern(scratch_);
    sets_[set].without_modes = result;
  }
  return sets_[set].without_modes;
}

bool LocksetTable::compatible(LocksetId a, LocksetId b) const {
  const std::span<const HeldLock> left = members(a);
  const std::span<const HeldLock> right = members(b);
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i].lock == right[j].lock && !(left[i].shared && right[j].shared)) return false;
    if (left[i].lock < right[j].lock) {
      ++i;
    } else {
      ++j;
    }
  }
  return true;
}

Hold LocksetTable::find(LocksetId set, uint32_t lock) const {
  const std::span<const HeldLock> held = members(set);
  const auto place = std::lower_bound(held.begin(), held.end(), lock,
                                      [](const HeldLock& one, uint32_t wanted) { return one.lock < wanted; });
  if (place == held.end() || place->lock != lock) return Hold::kNone;
  return place->shared ? Hold::kShared : Hold::kExclusive;
}

std::string LocksetTable::list(LocksetId set, const Names& names) const {
  std::vector<std::string> items;
  for (const HeldLock held : members(set))
    items.push_back(printable(names.lock(held.lock)) + (held.shared ? " (shared)" : ""));
  return items.empty() ? "" : join_with_and(items);
}

std::string LocksetTable::describe(LocksetId set, const Names& names) const {
  return set == kEmptyLockset ? "holding no lock" : "holding " + list(set, names);
}

}  // namespace heddle
