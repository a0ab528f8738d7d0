#include "checkers/predictive/thread_parts.h"

#include <algorithm>

namespace heddle::predictive {

namespace {

// Tarjan's algorithm for biconnected components: a depth-first walk in which `low` is how far up a thread's
// descendants are linked. Where a child's descendants reach no higher than the thread itself, the threads met
// since then are a component. Without recursion: a path of links can be as long as there are threads.
class Walk {
 public:
  explicit Walk(const std::vector<std::vector<ThreadId>>& neighbours)
      : neighbours_(neighbours),
        met_(neighbours.size(), 0),
        low_(neighbours.size(), 0),
        next_(neighbours.size(), 0),
        parent_(neighbours.size(), kNoId) {}

  // Calls component(threads) for each of more than one thread.
  template <class Component>
  void run(Component component) {
    for (ThreadId root = 0; root < neighbours_.size(); ++root)
      if (met_[root] == 0) walk_from(root, component);
  }

 private:
  template <class Component>
  void walk_from(ThreadId root, Component component) {
    meet(root);
    for (ThreadId here = root;;) {
      if (next_[here] < neighbours_[here].size()) {
        const ThreadId to = neighbours_[here][next_[here]++];
        if (met_[to] == 0) {
          parent_[to] = here;
          meet(to);
          here = to;
        } else if (to != parent_[here]) {
          low_[here] = std::min(low_[here], met_[to]);
        }
        continue;
      }
      if (here == root) break;
      const ThreadId up = parent_[here];
      low_[up] = std::min(low_[up], low_[here]);
      if (low_[here] >= met_[up]) {
        std::vector<ThreadId> threads = {up};
        while (threads.back() != here) {
          threads.push_back(open_.back());
          open_.pop_back();
        }
        component(threads);
      }
      here = up;
    }
    open_.clear();
  }
  void meet(ThreadId thread) {
    met_[thread] = low_[thread] = ++count_;
    open_.push_back(thread);
  }

  const std::vector<std::vector<ThreadId>>& neighbours_;
  std::vector<uint32_t> met_;      // by thread: when, from 1; 0: not yet
  std::vector<uint32_t> low_;      // by thread: the earliest its descendants are linked to
  std::vector<std::size_t> next_;  // by thread: neighbours looked at
  std::vector<ThreadId> parent_;   // by thread
  std::vector<ThreadId> open_;     // met, and in no component yet
  uint32_t count_ = 0;
};

}  // namespace

ThreadParts::ThreadParts(const std::vector<uint32_t>& most,
                         const std::vector<std::pair<ThreadId, ThreadId>>& links)
    : parts_of_(most.size()) {
  std::vector<std::vector<ThreadId>> neighbours(most.size());
  for (const auto& [a, b] : links) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  for (std::vector<ThreadId>& of : neighbours) {
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
  }
  Walk(neighbours).run([&](const std::vector<ThreadId>& component) {
    const auto part = static_cast<uint32_t>(longest_.size());
    longest_.push_back(0);
    for (const ThreadId thread : component) {
      parts_of_[thread].push_back(part);
      longest_.back() += most[thread];
    }
  });
}

uint32_t ThreadParts::common(ThreadId a, ThreadId b) const {
  for (const uint32_t part : parts_of_[a])
    if (contains(part, b)) return part;
  return kNoId;
}

bool ThreadParts::contains(uint32_t part, ThreadId thread) const {
  return std::binary_search(parts_of_[thread].begin(), parts_of_[thread].end(), part);
}

std::size_t ThreadParts::longest_cycle(ThreadId thread) const {
  std::size_t longest = 0;
  for (const uint32_t part : parts_of_[thread]) longest = std::max(longest, longest_[part]);
  return longest;
}

}  // namespace heddle::predictive
