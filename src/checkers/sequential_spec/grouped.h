// Numbers in groups, each group in ascending order: two passes of counting, no list per group.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace heddle::sequential_spec {

class Grouped {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // The numbers below `count`, by group_of(number); those of kNone are left out.
  template <class GroupOf>
  Grouped(std::size_t groups, std::size_t count, GroupOf group_of) : begin_(groups + 1, 0) {
    const auto end = static_cast<uint32_t>(count);
    for (uint32_t number = 0; number < end; ++number)
      if (const uint32_t group = group_of(number); group != kNone) ++begin_[group + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    numbers_.resize(begin_.back());
    std::vector<uint32_t> place(begin_.begin(), begin_.end() - 1);
    for (uint32_t number = 0; number < end; ++number)
      if (const uint32_t group = group_of(number); group != kNone) numbers_[place[group]++] = number;
  }

  std::span<const uint32_t> of(uint32_t group) const {
    return std::span(numbers_).subspan(begin_[group], begin_[group + 1] - begin_[group]);
  }
  // Where a group begins and ends in numbers().
  uint32_t begin(uint32_t group) const { return begin_[group]; }
  uint32_t end(uint32_t group) const { return begin_[group + 1]; }
  const std::vector<uint32_t>& numbers() const { return numbers_; }

 private:
  std::vector<uint32_t> begin_;    // by group; one more at the end
  std::vector<uint32_t> numbers_;  // group by group
};

}  // namespace heddle::sequential_spec
