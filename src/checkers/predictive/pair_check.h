// Whether two transactions are atomic together: every interleaving the synchronization allows is view
// equivalent to a serial one (S1 §5.2 and §5.3, with the corrections of ALGORITHMS §4).
//
// S1 compares blocks (pairs of operations of each transaction) with each other: for one variable the patterns
// UP1 to UP4, for two variables a table. All of these say the same: the interleaving holds something that
// contradicts the serial order "first, then second" and something that contradicts the other one. For a
// variable x that is, against "second, then first":
//   the first writes x before an uninitialized read of the second,
//   an uninitialized read of the first comes before the second's final write,
//   or the first's final write comes before the second's;
// and against both at once: a write between a write of the other one and the read that should have seen it
// (UP3). So one walk over the grid of states decides all patterns of all variables together.
// docs/design/predictive.md has the argument and tests/oracle/block_patterns_test.cpp holds this against S1's
// blocks and table, pair by pair. An order that the forced order excludes counts as contradicted.
//
// The grid is that of lock sections, not of steps: between two operations on locks that both take, accesses
// can be done at any time, and which of two comes first matters only where one contradiction is followed by
// the other. A lock under which both always hold another common lock adds nothing and is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkers/predictive/shape_index.h"
#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

// A transaction as one of a pair.
struct PairMember {
  const Shape& shape;
  const ShapeIndex& index;
  const Group& group;  // for the forced order
};

// A step in a schedule of several transactions.
struct ScheduledStep {
  uint32_t member = 0;
  uint32_t step = 0;  // in the member's shape

  friend bool operator==(const ScheduledStep&, const ScheduledStep&) = default;
};

struct PairAnswer {
  bool exhausted = false;  // not decided: the budget is too small for the grid
  bool too_large = false;  // and no budget is enough: it is past kMostCells
  // An interleaving of all steps of both that no serial order explains, one that cuts the first if there is
  // any; none: they are atomic.
  std::optional<std::vector<ScheduledStep>> schedule;
};

inline constexpr uint64_t kMostCells = uint64_t{1} << 30;

// `looks_left` is what may still be spent, and is counted down: one for the pair and one for every 16 states
// of its grid. A step of a search is worth kLooksPerStep looks.
inline constexpr uint64_t kLooksPerStep = 16;

PairAnswer check_pair(const PairMember& first, const PairMember& second, const LocksetTable& locksets,
                      uint64_t& looks_left);

}  // namespace heddle::predictive
