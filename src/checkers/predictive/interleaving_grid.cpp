#include "checkers/predictive/interleaving_grid.h"

#include <tsl/robin_map.h>

#include <algorithm>

#include "base/hash.h"

namespace heddle::predictive {

namespace {

// By number of steps done: how many of the other axis' steps must be done as well.
std::vector<uint32_t> needs_by_state(const Axis& axis) {
  std::vector<uint32_t> needs(axis.needs.size() + 1, 0);
  for (std::size_t i = 0; i < axis.needs.size(); ++i) needs[i + 1] = std::max(needs[i], axis.needs[i]);
  return needs;
}

// The different sets of locks on an axis, and which of them each state has.
struct Distinct {
  std::vector<LocksetId> sets;
  std::vector<uint32_t> of_state;

  explicit Distinct(const std::vector<LocksetId>& held) {
    of_state.reserve(held.size());
    tsl::robin_map<LocksetId, uint32_t, MixHash> numbers;
    for (const LocksetId set : held) {
      const auto [known, is_new] = numbers.try_emplace(set, static_cast<uint32_t>(sets.size()));
      if (is_new) sets.push_back(set);
      of_state.push_back(known->second);
    }
  }
};

}  // namespace

InterleavingGrid::InterleavingGrid(const Axis& first, const Axis& second, const LocksetTable& locksets)
    : width_(first.steps()),
      height_(second.steps()),
      live_((std::size_t{width_} + 1) * (std::size_t{height_} + 1), 0) {
  const Distinct rows(first.held);
  const Distinct columns(second.held);
  const std::vector<uint32_t> first_needs = needs_by_state(first);
  const std::vector<uint32_t> second_needs = needs_by_state(second);
  std::vector<uint8_t> fits(columns.sets.size() * rows.sets.size());
  for (std::size_t c = 0; c < columns.sets.size(); ++c)
    for (std::size_t r = 0; r < rows.sets.size(); ++r)
      fits[c * rows.sets.size() + r] = locksets.compatible(columns.sets[c], rows.sets[r]) ? 1 : 0;
  // Forward: what can be reached.
  for (uint32_t j = 0; j <= height_; ++j) {
    const uint8_t* const fit = fits.data() + columns.of_state[j] * rows.sets.size();
    for (uint32_t i = 0; i <= width_; ++i) {
      if (fit[rows.of_state[i]] == 0 || j < first_needs[i] || i < second_needs[j]) continue;
      const bool reached = (i == 0 && j == 0) || (i > 0 && live_[index(i - 1, j)] != 0) ||
                           (j > 0 && live_[index(i, j - 1)] != 0);
      if (reached) live_[index(i, j)] = 1;
    }
  }
  // Backward: and from where the far corner can be.
  for (uint32_t j = height_ + 1; j-- > 0;) {
    for (uint32_t i = width_ + 1; i-- > 0;) {
      const bool leads_on = (i == width_ && j == height_) || (i < width_ && live_[index(i + 1, j)] != 0) ||
                            (j < height_ && live_[index(i, j + 1)] != 0);
      if (!leads_on) live_[index(i, j)] = 0;
    }
  }
}

}  // namespace heddle::predictive
