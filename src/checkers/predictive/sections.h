// One transaction beside another, cut into sections: what the grid of the two is made of.
//
// Between two cuts a transaction's accesses can all be done in the same states of the other one. It is cut at
// its operations on locks that both take, and where the forced order, or an order that is asked for, begins
// to matter.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "checkers/predictive/interleaving_grid.h"
#include "checkers/predictive/pair_check.h"

namespace heddle::predictive {

// An access to a variable both access.
struct Access {
  uint32_t step = 0;  // in the shape
  // It contradicts an order when it comes before a step of the other one: the last such step, plus one.
  uint32_t contradicts_before = 0;
};

// The own step `at` and what follows it come after the first `others` steps of the other one.
struct Need {
  uint32_t at = 0;
  uint32_t others = 0;
};

// Where a section begins, and what it takes to be there. Of several at one step they come in this order.
struct Cut {
  enum class Kind : uint8_t {
    kDone,  // all steps before this one are done
    kNeed,  // and what the other one has to do before it is done
    kLock,  // and the step itself, which operates on a lock
  };
  uint32_t step = 0;
  Kind kind = Kind::kDone;

  friend auto operator<=>(const Cut&, const Cut&) = default;
};

struct Side {
  explicit Side(const PairMember& of) : member(of) {}

  const PairMember& member;
  std::vector<Cut> locking;      // operations on locks that count, ascending
  std::vector<Access> accesses;  // to common variables, ascending
  std::vector<Cut> cuts;         // ascending; section k + 1 begins at cuts[k]

  uint32_t steps() const { return static_cast<uint32_t>(member.shape.steps.size()); }
  // How many steps are done when a section begins.
  uint32_t begin_of(std::size_t section) const {
    return section == 0 ? 0 : cuts[section - 1].step + (cuts[section - 1].kind == Cut::Kind::kLock ? 1 : 0);
  }
  // The last section that has begun at such a cut.
  uint32_t section_at(const Cut& cut) const {
    return static_cast<uint32_t>(std::upper_bound(cuts.begin(), cuts.end(), cut) - cuts.begin());
  }
  // The section that an access is in.
  uint32_t section_of(uint32_t access) const { return section_at({access, Cut::Kind::kNeed}); }
};

// The operations on locks that both take, without locks under which another one keeps the two apart already.
void add_locks(Side& a, Side& b, const LocksetTable& locksets);

// What the forced order asks of `side`: later steps know all that earlier ones know.
std::vector<Need> forced_needs(const Side& side, const Side& other);

// Cuts a side by its locks, by what it needs and by what the other one needs of it.
void cut(Side& side, const std::vector<Need>& own, const std::vector<Need>& others);

// Both must be cut.
Axis axis_of(const Side& side, const Side& other, const std::vector<Need>& needs);

}  // namespace heddle::predictive
