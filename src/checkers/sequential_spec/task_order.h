// The order that conflicts force on tasks (S3 §5.2, Def. 2 and 3), at every level of the task tree.
//
// A conflict of two operations stands for an order of the two siblings they are in: the tasks below the
// innermost task that holds both. (A cycle of Def. 3 among tasks of several levels is one among siblings, so
// siblings are enough.) Of all conflicts on a location, for each task and its children, only those to the
// nearest are kept, which have the same paths. Cost: linear in accesses, times the depth of their tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "checkers/sequential_spec/history.h"

namespace heddle::sequential_spec {

class TaskOrder {
 public:
  // Of the accesses that `counts` lets count.
  TaskOrder(const History& history, const std::function<bool(NodeId)>& counts);

  // Whether some serial order of the tasks keeps all conflicts.
  bool is_serializable() const { return is_serializable_; }
  // By task: its place among its siblings in such an order, which keeps to the order in which tasks began as
  // far as it can. Only where there is one.
  std::vector<uint32_t> places() const;

  // Short cycles, such that each conflict by its two source lines, if it is on some cycle, is on one of
  // these. Ends early when the search has taken `budget` steps: not before the first cycle.
  struct Cycles {
    std::vector<std::vector<Before>> list;
    bool is_complete = true;
  };
  Cycles cycles(uint64_t budget) const;

 private:
  void find_parts();
  std::span<const Before> from(TaskId task) const {
    return std::span(edges_).subspan(begin_[task], begin_[task + 1] - begin_[task]);
  }

  const History& history_;
  std::vector<Before> edges_;    // by task they come from
  std::vector<uint32_t> begin_;  // by task: of its edges
  std::vector<uint32_t> part_;   // by task: its strongly connected part
  bool is_serializable_ = true;
};

}  // namespace heddle::sequential_spec
