#include "report/finding_sample.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace heddle {

std::vector<std::size_t> sample(const std::vector<std::string>& kinds, std::size_t most) {
  std::vector<std::size_t> order(kinds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (kinds.size() <= most) return order;
  // Its round: how many of the same kind came before.
  std::unordered_map<std::string_view, std::size_t> seen;
  std::vector<std::size_t> round;
  round.reserve(kinds.size());
  for (const std::string& kind : kinds) round.push_back(seen[kind]++);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return round[a] != round[b] ? round[a] < round[b] : a < b; });
  order.resize(most);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace heddle
