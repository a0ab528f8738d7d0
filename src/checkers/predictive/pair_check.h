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
// (UP3). So one walk over the grid that carries along which orders are contradicted decides all patterns of
// all variables together, in time (steps × steps) however many blocks there are.
// tests/oracle/block_table_test.cpp derives S1's table and holds this against it. An order that the forced
// order excludes counts as contradicted.
#pragma once

#include <optional>
#include <vector>

#include "checkers/predictive/transactions.h"
#include "checkers/predictive/variable_uses.h"

namespace heddle::predictive {

// A transaction as one of a pair.
struct PairMember {
  const Shape& shape;
  const std::vector<VariableUse>& uses;
  const Group& group;  // for the forced order
};

// A step in a schedule of several transactions.
struct ScheduledStep {
  uint32_t member = 0;
  uint32_t step = 0;  // in the member's shape

  friend bool operator==(const ScheduledStep&, const ScheduledStep&) = default;
};

struct PairAnswer {
  bool too_large = false;  // the grid is past kMostCells: not decided
  // An interleaving of all steps of both that no serial order explains; none: they are atomic.
  std::optional<std::vector<ScheduledStep>> schedule;
};

inline constexpr std::size_t kMostCells = std::size_t{1} << 28;

PairAnswer check_pair(const PairMember& first, const PairMember& second, const LocksetTable& locksets);

}  // namespace heddle::predictive
