// Visits numbers until nothing calls for another visit: how fixed points are computed here.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace heddle::types {

// `visit(i, again)`: again(j) has j visited once more.
template <class Visit>
void until_stable(std::size_t count, Visit visit) {
  std::deque<std::size_t> waiting;
  std::vector<bool> is_waiting(count, true);
  for (std::size_t i = 0; i < count; ++i) waiting.push_back(i);
  const auto again = [&](std::size_t i) {
    if (is_waiting[i]) return;
    is_waiting[i] = true;
    waiting.push_back(i);
  };
  while (!waiting.empty()) {
    const std::size_t i = waiting.front();
    waiting.pop_front();
    is_waiting[i] = false;
    visit(i, again);
  }
}

}  // namespace heddle::types
