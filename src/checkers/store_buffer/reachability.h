// Which nodes of a part certain links lead to, answered at once: the part is covered by chains (S2 §6.2), and
// of each node is known the first node of each chain that it reaches.
//
// Chains are grown greedily along links, a thread's own first. With program order there is a chain a thread;
// with S2's order within threads about two, and one for each store that serves reads from the buffer. Cost:
// links × chains; memory: nodes × chains.
#pragma once

#include <cstdint>
#include <vector>

#include "checkers/store_buffer/graph.h"

namespace heddle::store_buffer {

class Reachability {
 public:
  // `part` is sorted; its nodes are known by their places in it. Certain links have no cycle there.
  Reachability(const History& history, Question question, const Graph& certain,
               const std::vector<uint32_t>& part);

  // The part is so large and so wide that nothing was computed.
  bool is_too_large() const { return too_large_; }
  // Whether certain links lead from one place to the other; true for the same place.
  bool reaches(uint32_t from, uint32_t to) const {
    return earliest_[std::size_t{from} * chains_ + chain_[to]] <= index_[to];
  }

 private:
  std::size_t chains_ = 0;
  bool too_large_ = false;
  std::vector<uint32_t> chain_;     // by place
  std::vector<uint32_t> index_;     // by place: in its chain
  std::vector<uint32_t> earliest_;  // by place and chain: the least index reached
};

// The place of a node in a part; part.size() when it is not in there.
uint32_t place_in(const std::vector<uint32_t>& part, uint32_t node);

}  // namespace heddle::store_buffer
