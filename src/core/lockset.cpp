#include "core/lockset.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace heddle {

namespace {

// Set ids stay below 2^31, so that a set, a lock and its mode fit into one key.
uint64_t key(LocksetId set, HeldLock held) {
  return uint64_t{set} << 33 | uint64_t{held.lock} << 1 | (held.shared ? 1U : 0U);
}

uint64_t hash_of(std::span<const HeldLock> members) {
  uint64_t hash = members.size();
  for (const HeldLock held : members) hash = mix(hash ^ key(0, held));
  return hash;
}

uint64_t unordered_key(LocksetId a, LocksetId b) { return uint64_t{std::min(a, b)} << 32 | std::max(a, b); }

}  // namespace

LocksetTable::LocksetTable() { intern({}); }

std::span<const HeldLock> LocksetTable::members(LocksetId set) const {
  return std::span(members_).subspan(sets_[set].first, sets_[set].count);
}

LocksetId LocksetTable::find_equal(uint64_t hash, std::span<const HeldLock> members) const {
  const auto known = by_hash_.find(hash);
  if (known == by_hash_.end()) return kNoId;
  for (LocksetId id = known->second; id != kNoId; id = sets_[id].same_hash) {
    const std::span<const HeldLock> others = this->members(id);
    if (std::equal(members.begin(), members.end(), others.begin(), others.end())) return id;
  }
  return kNoId;
}

LocksetId LocksetTable::intern(std::span<const HeldLock> members) {
  const uint64_t hash = hash_of(members);
  if (const LocksetId known = find_equal(hash, members); known != kNoId) return known;
  Set set;
  set.first = members_.size();
  set.count = static_cast<uint32_t>(members.size());
  members_.insert(members_.end(), members.begin(), members.end());
  LocksetId id = size();
  if (std::none_of(members.begin(), members.end(), [](HeldLock held) { return held.shared; })) {
    set.exclusive_part = id;
    set.without_modes = id;
  } else {
    exclusive_.clear();
    std::copy_if(members.begin(), members.end(), std::back_inserter(exclusive_),
                 [](HeldLock held) { return !held.shared; });
    set.exclusive_part = intern(exclusive_);  // which has no shared members and so goes no deeper
    id = size();
  }
  if (const auto [place, first] = by_hash_.emplace(hash, id); !first)
    set.same_hash = std::exchange(place.value(), id);
  sets_.push_back(set);
  return id;
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
