// Maps by address of what a program's memory holds: locks, barriers, semaphores, condition variables.
#pragma once

#include <cstdint>
#include <iterator>

namespace heddle {

// Forgets what lies at addresses of [begin, end).
template <class Map>
void forget_in(Map& map, uint64_t begin, uint64_t end) {
  constexpr uint64_t kAlignment = 4;  // of the smallest
  if ((end - begin) / kAlignment < map.size()) {
    for (begin = (begin + kAlignment - 1) / kAlignment * kAlignment; begin < end; begin += kAlignment)
      map.erase(begin);
    return;
  }
  for (auto entry = map.begin(); entry != map.end();)
    entry = entry->first >= begin && entry->first < end ? map.erase(entry) : std::next(entry);
}

}  // namespace heddle
