// Which events matter to the outcome (S3 Fig. 6, ComputeRelevant), and for each, what makes it matter.
//
// One walk backward from what matters by itself: each task's last write of a focus location (line 1) and
// every deterministic branch outside all if (true*) (line 2). From an event, the walk reaches the events its
// value comes from (line 5: D1 as recorded, D2 by NearestWrites), the if (true*) it stands in (line 6), and
// from an if (true*) the deterministic branches in it (line 7). From a read it reaches all that is counted in
// its location, too (Kind::kCount). Every event is reached once, so the fixed
// point costs one pass.
#pragma once

#include <vector>

#include "checkers/sequential_spec/history.h"

namespace heddle::sequential_spec {

class Relevance {
 public:
  explicit Relevance(const History& history);

  bool is_relevant(NodeId node) const { return reason_[node] != kNoNode; }
  // The event that makes this relevant one so; itself, when it matters by itself.
  NodeId reason(NodeId node) const { return reason_[node]; }

 private:
  std::vector<NodeId> reason_;  // by node; kNoNode: irrelevant
};

}  // namespace heddle::sequential_spec
