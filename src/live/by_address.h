// Maps by address of what a program's memory holds: locks, barriers, semaphores, condition variables.
#pragma once

#include <cstdint>
#include <iterator>

namespace heddle {

// Forgets what lies at addresses of [begin, end), after `on_end(thing)`.
template <class Map, class OnEnd>
void forget_in(Map& map, uint64_t begin, uint64_t end, OnEnd on_end) {
  const auto forget = [&](auto entry) {
    on_end(entry.value());
    return map.erase(entry);
  };
  constexpr uint64_t kAlignment = 4;  // of the smallest
  if ((end - begin) / kAlignment < map.size()) {
    for (begin = (begin + kAlignment - 1) / kAlignment * kAlignment; begin < end; begin += kAlignment)
      if (const auto entry = map.find(begin); entry != map.end()) forget(entry);
    return;
  }
  for (auto entry = map.begin(); entry != map.end();)
    entry = entry->first >= begin && entry->first < end ? forget(entry) : std::next(entry);
}
template <class Map>
void forget_in(Map& map, uint64_t begin, uint64_t end) {
  forget_in(map, begin, end, [](auto&) {});
}

}  // namespace heddle
