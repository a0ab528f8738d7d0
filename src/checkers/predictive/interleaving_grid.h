// Which interleavings of two transactions the synchronization allows, exactly and for any use of locks.
//
// The transactions are the axes of a grid; the state (i, j) is "i steps of the one and j of the other are
// done". An interleaving is a path from (0, 0) to the far corner that goes one step along one axis at a time.
// Two locks that cannot be held at once forbid the states in which both are: a rectangle for each pair of
// critical sections. The forced order forbids the states in which a step is done and one that must come
// before it is not. A state is *live* when some path through it reaches the far corner: S1's lockset test
// (Thm 5.1) says the same only where there is no potential deadlock, see its example (10).
#pragma once

#include <cstdint>
#include <vector>

#include "core/lockset.h"

namespace heddle::predictive {

struct Axis {
  std::vector<LocksetId> held;  // by number of steps done, from 0 to all
  std::vector<uint32_t> needs;  // by step: how many of the other axis' steps come before it in every schedule

  uint32_t steps() const { return static_cast<uint32_t>(needs.size()); }
};

class InterleavingGrid {
 public:
  InterleavingGrid(const Axis& first, const Axis& second, const LocksetTable& locksets);

  // Whether some complete interleaving passes through the state.
  bool is_live(uint32_t i, uint32_t j) const { return live_[index(i, j)]; }
  // Whether the next step of the first (or second) can be done in this state, on the way of such a one.
  bool first_can_go(uint32_t i, uint32_t j) const { return i < width_ && is_live(i, j) && is_live(i + 1, j); }
  bool second_can_go(uint32_t i, uint32_t j) const {
    return j < height_ && is_live(i, j) && is_live(i, j + 1);
  }

 private:
  std::size_t index(uint32_t i, uint32_t j) const { return std::size_t{j} * (width_ + std::size_t{1}) + i; }

  uint32_t width_;   // steps of the first
  uint32_t height_;  // steps of the second
  std::vector<uint8_t> live_;
};

}  // namespace heddle::predictive
