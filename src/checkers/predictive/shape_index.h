// A shape by what it is made of: the accesses to each variable, the sections of each lock. Comparing two
// shapes then costs by what they have in common, not by how long they are.
//
// An *uninitialized read* has no write of the same variable before it in its transaction; the *final write*
// has none after it (S1 §5.3).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

// What a transaction does to one variable, as others see it. Positions are in Shape::steps; kNoId: none.
struct VariableUse {
  VariableId variable = kNoId;
  uint32_t first_read = kNoId;  // the first uninitialized one
  uint32_t last_read = kNoId;   // the last uninitialized one
  uint32_t first_write = kNoId;
  uint32_t final_write = kNoId;
  uint32_t first = 0;  // its accesses: from here in ShapeIndex::accesses
  uint32_t end = 0;    // to here

  bool writes() const { return final_write != kNoId; }
};

struct LockUse {
  uint32_t lock = kNoId;
  LocksetId with = kEmptyLockset;  // other locks that are held whenever this one is
  uint32_t first = 0;              // its acquires and releases: from here in ShapeIndex::locking
  uint32_t end = 0;                // to here
};

struct ShapeIndex {
  std::vector<VariableUse> variables;  // by ascending variable
  std::vector<uint32_t> accesses;      // positions of all accesses, variable by variable, each ascending
  std::vector<LockUse> locks;          // by ascending lock
  std::vector<uint32_t> locking;       // positions of all acquires and releases, lock by lock, each ascending

  std::span<const uint32_t> accesses_of(const VariableUse& use) const {
    return std::span(accesses).subspan(use.first, use.end - use.first);
  }
  std::span<const uint32_t> steps_of(const LockUse& use) const {
    return std::span(locking).subspan(use.first, use.end - use.first);
  }
};

// `locksets` learns the sets that LockUse::with needs.
ShapeIndex index_shape(const Shape& shape, LocksetTable& locksets);

// Calls visit(a's entry, b's entry) for each variable (or lock) both have, in ascending order. Costs by the
// shorter list.
template <class Entry, class Key, class Visit>
void for_each_common(const std::vector<Entry>& a, const std::vector<Entry>& b, Key Entry::* key,
                     Visit visit) {
  const bool a_is_shorter = a.size() <= b.size();
  const std::vector<Entry>& longer = a_is_shorter ? b : a;
  auto from = longer.begin();
  for (const Entry& entry : a_is_shorter ? a : b) {
    from = std::lower_bound(from, longer.end(), entry.*key,
                            [&](const Entry& other, const Key& id) { return other.*key < id; });
    if (from == longer.end()) return;
    if ((*from).*key == entry.*key) visit(a_is_shorter ? entry : *from, a_is_shorter ? *from : entry);
  }
}

// The variables both access and at least one writes.
template <class Visit>
void for_each_conflict(const ShapeIndex& a, const ShapeIndex& b, Visit visit) {
  for_each_common(a.variables, b.variables, &VariableUse::variable,
                  [&](const VariableUse& mine, const VariableUse& others) {
                    if (mine.writes() || others.writes()) visit(mine, others);
                  });
}

}  // namespace heddle::predictive
