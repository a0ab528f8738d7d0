#include "checkers/lock_graph.h"

#include <algorithm>

namespace heddle {

namespace {

constexpr uint8_t kReached = 1;  // reaches the start of the search
constexpr uint8_t kBetween = 2;  // and is reached from the head of the new edge

}  // namespace

uint32_t LockGraph::find(uint32_t lock) {
  if (lock >= components_.size()) return lock;
  while (components_[lock].parent != lock) {
    components_[lock].parent = components_[components_[lock].parent].parent;
    lock = components_[lock].parent;
  }
  return lock;
}

void LockGraph::add(uint32_t held, uint32_t taken) {
  if (!edges_.insert(uint64_t{held} << 32 | taken).second) return;
  while (patience_ * patience_ < edges_.size()) ++patience_;
  while (components_.size() <= std::max(held, taken)) {
    Component& component = components_.emplace_back();
    component.parent = static_cast<uint32_t>(components_.size() - 1);
  }
  uint32_t from = find(held);
  uint32_t to = find(taken);
  if (from == to) return;
  // A head that leads nowhere is on no cycle, whatever its level: no need to look behind the tail.
  const bool dead_end = components_[to].after.empty();
  if (components_[from].level >= components_[to].level && !dead_end) {
    const bool whole = search_back(from, patience_);
    const uint32_t level = components_[from].level + (whole ? 0 : 1);
    if (components_[to].level < level) {
      raise(to, level);
      // A path to the tail has put the tail and the path on the head's level.
      if (components_[from].level == level) search_back(from, edges_.size());
    }
    if (components_[from].level == components_[to].level && (components_[to].marks & kReached) != 0)
      from = to = merge(between(to, from));
    forget_search();
  }
  if (from == to) return;
  if (components_[to].level < components_[from].level) raise(to, components_[from].level);
  components_[from].after.push_back(to);
  if (components_[from].level == components_[to].level) components_[to].before.push_back(from);
}

// Marks what reaches `start` on its level. Gives up, and says so, after `limit` edges.
bool LockGraph::search_back(uint32_t start, uint64_t limit) {
  forget_search();
  components_[start].marks = kReached;
  reached_.push_back(start);
  for (std::size_t next = 0; next < reached_.size(); ++next) {
    const uint32_t current = reached_[next];
    std::vector<uint32_t>& before = components_[current].before;
    for (std::size_t i = 0; i < before.size();) {
      ++steps_;
      const uint32_t other = find(before[i]);
      if (other == current) {  // an edge inside a merged component, never needed again
        before[i] = before.back();
        before.pop_back();
        continue;
      }
      if (passed_.size() == limit) return false;
      passed_.emplace_back(other, current);
      ++i;
      if (components_[other].marks != 0) continue;
      components_[other].marks = kReached;
      reached_.push_back(other);
    }
  }
  return true;
}

void LockGraph::forget_search() {
  for (const uint32_t one : reached_) components_[one].marks = 0;
  reached_.clear();
  passed_.clear();
}

// Brings `start`, which is lower, and everything it reaches to at least `level`.
void LockGraph::raise(uint32_t start, uint32_t level) {
  std::vector<uint32_t> open{start};
  components_[start].level = level;
  components_[start].before.clear();
  while (!open.empty()) {
    const uint32_t current = open.back();
    open.pop_back();
    std::vector<uint32_t>& after = components_[current].after;
    for (std::size_t i = 0; i < after.size();) {
      ++steps_;
      const uint32_t other = find(after[i]);
      if (other == current) {
        after[i] = after.back();
        after.pop_back();
        continue;
      }
      ++i;
      Component& component = components_[other];
      if (component.level < level) {
        component.level = level;
        component.before.clear();
        open.push_back(other);
      }
      if (component.level == level) component.before.push_back(current);
    }
  }
}

// The components on the paths from `from` to `to`, where a whole search back from `to` has just ended: they
// are on one level, and the search went along all their edges.
std::vector<uint32_t> LockGraph::between(uint32_t from, uint32_t to) {
  std::sort(passed_.begin(), passed_.end());
  std::vector<uint32_t> result{from};
  components_[from].marks |= kBetween;
  for (std::size_t next = 0; next < result.size(); ++next) {
    const uint32_t current = result[next];
    if (current == to) continue;
    for (auto edge = std::lower_bound(passed_.begin(), passed_.end(), std::pair(current, uint32_t{0}));
         edge != passed_.end() && edge->first == current; ++edge) {
      Component& component = components_[edge->second];
      if ((component.marks & kBetween) != 0) continue;
      component.marks |= kBetween;
      result.push_back(edge->second);
    }
  }
  return result;
}

// Joins components of one level. The longest lists stay where they are, so that an edge moves O(log m) times.
uint32_t LockGraph::merge(const std::vector<uint32_t>& cycle) {
  const auto size = [&](uint32_t one) {
    return components_[one].after.size() + components_[one].before.size();
  };
  const uint32_t root = *std::max_element(cycle.begin(), cycle.end(),
                                          [&](uint32_t a, uint32_t b) { return size(a) < size(b); });
  for (const uint32_t one : cycle) {
    if (one == root) continue;
    Component& merged = components_[one];
    Component& whole = components_[root];
    merged.parent = root;
    whole.after.insert(whole.after.end(), merged.after.begin(), merged.after.end());
    whole.before.insert(whole.before.end(), merged.before.begin(), merged.before.end());
    steps_ += merged.after.size() + merged.before.size();
    merged.after = {};
    merged.before = {};
  }
  return root;
}

}  // namespace heddle
