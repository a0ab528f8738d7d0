#include "checkers/lock_graph.h"

#include <algorithm>

namespace heddle {

namespace {

constexpr uint8_t kAfter = 1;   // reached forward from the head of the new edge
constexpr uint8_t kBefore = 2;  // reached backward from its tail
constexpr uint8_t kBoth = kAfter | kBefore;

}  // namespace

void LockGraph::add(uint32_t held, uint32_t taken) {
  if (!edges_.insert(uint64_t{held} << 32 | taken).second) return;
  while (components_.size() <= std::max(held, taken)) {
    Component& component = components_.emplace_back();
    component.parent = static_cast<uint32_t>(components_.size() - 1);
    component.position = component.parent;
  }
  const uint32_t from = find(held);
  const uint32_t to = find(taken);
  if (from == to) return;
  components_[from].after.push_back(to);
  components_[to].before.push_back(from);
  if (components_[to].position < components_[from].position) repair(from, to);
}

uint32_t LockGraph::find(uint32_t lock) {
  if (lock >= components_.size()) return lock;
  while (components_[lock].parent != lock) {
    components_[lock].parent = components_[components_[lock].parent].parent;
    lock = components_[lock].parent;
  }
  return lock;
}

// All components reachable from `start` (forward for kAfter) without leaving the positions up to `limit`.
void LockGraph::reach(uint32_t start, uint8_t mark, uint64_t limit, std::vector<uint32_t>& reached) {
  std::vector<uint32_t> open{start};
  components_[start].marks |= mark;
  while (!open.empty()) {
    const uint32_t current = open.back();
    open.pop_back();
    reached.push_back(current);
    for (const uint32_t lock : mark == kAfter ? components_[current].after : components_[current].before) {
      const uint32_t next = find(lock);
      Component& component = components_[next];
      const bool outside = mark == kAfter ? component.position > limit : component.position < limit;
      if (outside || (component.marks & mark) != 0) continue;
      component.marks |= mark;
      open.push_back(next);
    }
  }
}

// The edge from → to goes against the order. Only components between the two positions can be in the wrong
// place: those after `to` and those before `from`. What is both lies on a cycle with the new edge.
void LockGraph::repair(uint32_t from, uint32_t to) {
  std::vector<uint32_t> after;
  std::vector<uint32_t> before;
  reach(to, kAfter, components_[from].position, after);
  reach(from, kBefore, components_[to].position, before);
  std::vector<uint32_t> cycle;
  std::vector<uint64_t> places;
  for (const uint32_t one : after) {
    places.push_back(components_[one].position);
    if (components_[one].marks == kBoth) cycle.push_back(one);
  }
  for (const uint32_t one : before)
    if (components_[one].marks != kBoth) places.push_back(components_[one].position);
  std::sort(places.begin(), places.end());
  const auto on_cycle = [&](uint32_t one) { return components_[one].marks == kBoth; };
  std::erase_if(after, on_cycle);
  std::erase_if(before, on_cycle);
  const auto by_position = [&](uint32_t a, uint32_t b) {
    return components_[a].position < components_[b].position;
  };
  std::sort(after.begin(), after.end(), by_position);
  std::sort(before.begin(), before.end(), by_position);
  for (const auto& list : {after, before, cycle})
    for (const uint32_t one : list) components_[one].marks = 0;
  // Everything before moves down or stays, everything after moves up or stays, so no other edge turns around.
  for (std::size_t i = 0; i < before.size(); ++i) components_[before[i]].position = places[i];
  for (std::size_t i = 0; i < after.size(); ++i)
    components_[after[i]].position = places[places.size() - after.size() + i];
  if (!cycle.empty()) components_[merge(cycle)].position = places[before.size()];
}

uint32_t LockGraph::merge(const std::vector<uint32_t>& cycle) {
  const uint32_t root = cycle.front();
  for (const uint32_t one : cycle) {
    if (one == root) continue;
    Component& merged = components_[one];
    Component& whole = components_[root];
    merged.parent = root;
    whole.after.insert(whole.after.end(), merged.after.begin(), merged.after.end());
    whole.before.insert(whole.before.end(), merged.before.begin(), merged.before.end());
    merged.after = {};
    merged.before = {};
  }
  return root;
}

}  // namespace heddle
