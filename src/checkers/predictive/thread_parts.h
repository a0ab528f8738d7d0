// The parts of a graph over threads that a cycle can be in: its biconnected components.
//
// Two transactions of different threads that can come in either order, or that come in a forced one, are a
// link between their threads. A shortest cycle of transactions passes through each of its threads once, so
// its threads lie on a simple cycle of the graph (or are just two), and such a cycle stays inside one
// biconnected component. Threads in a row, each of which meets only its neighbours, have no longer cycle at
// all.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/event.h"

namespace heddle::predictive {

class ThreadParts {
 public:
  // `most` is, by thread, how many of its transactions a cycle can have: none, one or two. Links in any
  // order.
  ThreadParts(const std::vector<uint32_t>& most, const std::vector<std::pair<ThreadId, ThreadId>>& links);

  // The part both are in; there is at most one. kNoId: none.
  uint32_t common(ThreadId a, ThreadId b) const;
  bool contains(uint32_t part, ThreadId thread) const;
  // The most transactions that a cycle through the thread can have.
  std::size_t longest_cycle(ThreadId thread) const;

 private:
  std::vector<std::vector<uint32_t>> parts_of_;  // by thread, ascending
  std::vector<std::size_t> longest_;             // by part: transactions of a cycle in it
};

}  // namespace heddle::predictive
