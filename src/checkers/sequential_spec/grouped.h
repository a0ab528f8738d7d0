// Numbers, or what they stand for, in groups, each group in ascending order of the numbers: two passes of
// counting, no list per group.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace heddle::sequential_spec {

inline constexpr uint32_t kNoGroup = std::numeric_limits<uint32_t>::max();

template <class Item = uint32_t>
class Grouped {
 public:
  // item_of(number) of the numbers below `count`, by group_of(number); those of kNoGroup are left out.
  template <class GroupOf, class ItemOf = std::identity>
  Grouped(std::size_t groups, std::size_t count, GroupOf group_of, ItemOf item_of = {})
      : begin_(groups + 1, 0) {
    const auto end = static_cast<uint32_t>(count);
    for (uint32_t number = 0; number < end; ++number)
      if (const uint32_t group = group_of(number); group != kNoGroup) ++begin_[group + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    all_.resize(begin_.back());
    std::vector<uint32_t> place(begin_.begin(), begin_.end() - 1);
    for (uint32_t number = 0; number < end; ++number)
      if (const uint32_t group = group_of(number); group != kNoGroup) all_[place[group]++] = item_of(number);
  }

  std::span<const Item> of(uint32_t group) const {
    return std::span(all_).subspan(begin_[group], begin_[group + 1] - begin_[group]);
  }
  // Where a group begins and ends in all().
  uint32_t begin(uint32_t group) const { return begin_[group]; }
  uint32_t end(uint32_t group) const { return begin_[group + 1]; }
  const std::vector<Item>& all() const { return all_; }

 private:
  std::vector<uint32_t> begin_;  // by group; one more at the end
  std::vector<Item> all_;        // group by group
};

}  // namespace heddle::sequential_spec
