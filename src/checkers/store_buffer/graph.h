// Links between operations as a graph over nodes: its strongly connected parts and short cycles.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "checkers/store_buffer/links.h"

namespace heddle::store_buffer {

class Graph {
 public:
  // Links within a node are left out.
  Graph(const History& history, Question question, std::initializer_list<const std::vector<Link>*> links);

  uint32_t nodes() const { return static_cast<uint32_t>(begin_.size()) - 1; }
  // The links that leave a node.
  std::span<const Link> from(uint32_t node) const {
    return std::span(links_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }

  // The strongly connected parts of more than one node (Tarjan), each a list of nodes.
  std::vector<std::vector<uint32_t>> cyclic_parts() const;

  // The fewest links from `start` to `goal`, at least one, through nodes that `allowed` allows; none when
  // there is no way.
  template <class Allowed>
  std::vector<Link> shortest_way(uint32_t start, uint32_t goal, Allowed allowed) const;

 private:
  uint32_t node(OpId op) const { return node_of(history_, question_, op); }

  const History& history_;
  Question question_;
  std::vector<uint32_t> begin_;  // by node: of its links
  std::vector<Link> links_;      // by the node they leave
  // For shortest_way(): the link by which a node was reached, and in which search.
  mutable std::vector<Link> reached_by_;
  mutable std::vector<uint32_t> reached_in_;
  mutable uint32_t searches_ = 0;
};

template <class Allowed>
std::vector<Link> Graph::shortest_way(uint32_t start, uint32_t goal, Allowed allowed) const {
  if (reached_by_.empty()) {
    reached_by_.resize(nodes());
    reached_in_.resize(nodes(), 0);
  }
  ++searches_;
  std::vector<uint32_t> queue{start};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Link& link : from(queue[i])) {
      const uint32_t next = node(link.to);
      if (reached_in_[next] == searches_ || !allowed(next)) continue;
      reached_in_[next] = searches_;
      reached_by_[next] = link;
      if (next != goal) {
        queue.push_back(next);
        continue;
      }
      std::vector<Link> way{link};
      while (node(way.back().from) != start) way.push_back(reached_by_[node(way.back().from)]);
      return {way.rbegin(), way.rend()};
    }
  }
  return {};
}

}  // namespace heddle::store_buffer
