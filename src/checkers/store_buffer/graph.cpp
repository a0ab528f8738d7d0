#include "checkers/store_buffer/graph.h"

#include <algorithm>

namespace heddle::store_buffer {

Graph::Graph(const History& history, Question question, std::initializer_list<const std::vector<Link>*> links)
    : history_(history), question_(question), begin_(node_count(history, question) + std::size_t{1}, 0) {
  std::size_t count = 0;
  for (const std::vector<Link>* list : links)
    for (const Link& link : *list)
      if (node(link.from) != node(link.to)) {
        ++begin_[node(link.from) + 1];
        ++count;
      }
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  links_.resize(count);
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (const std::vector<Link>* list : links)
    for (const Link& link : *list)
      if (node(link.from) != node(link.to)) links_[next[node(link.from)]++] = link;
}

std::vector<std::vector<uint32_t>> Graph::cyclic_parts() const {
  constexpr uint32_t kUnseen = 0;
  struct Visit {
    uint32_t node;
    uint32_t next;  // of its links
  };
  std::vector<std::vector<uint32_t>> parts;
  std::vector<uint32_t> number(nodes(), kUnseen);  // in the order met, from 1
  std::vector<uint32_t> low(nodes());              // the least number known to be reached
  std::vector<bool> is_open(nodes(), false);
  std::vector<uint32_t> open;
  std::vector<Visit> visits;
  uint32_t count = 0;
  const auto enter = [&](uint32_t node) {
    number[node] = low[node] = ++count;
    is_open[node] = true;
    open.push_back(node);
    visits.push_back({node, begin_[node]});
  };
  for (uint32_t root = 0; root < nodes(); ++root) {
    if (number[root] != kUnseen) continue;
    enter(root);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const uint32_t current = visit.node;
      if (visit.next < begin_[current + 1]) {
        const uint32_t to = node(links_[visit.next++].to);
        if (number[to] == kUnseen) {
          enter(to);
        } else if (is_open[to]) {
          low[current] = std::min(low[current], number[to]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().node] = std::min(low[visits.back().node], low[current]);
      if (low[current] != number[current]) continue;
      const auto first = std::find(open.rbegin(), open.rend(), current).base() - 1;
      for (auto at = first; at != open.end(); ++at) is_open[*at] = false;
      if (open.end() - first > 1) parts.emplace_back(first, open.end());
      open.erase(first, open.end());
    }
  }
  for (std::vector<uint32_t>& part : parts) std::sort(part.begin(), part.end());
  std::sort(parts.begin(), parts.end());
  return parts;
}

}  // namespace heddle::store_buffer
