// Why an interleaving of two transactions is not serializable: the operations behind it, as two edges of a
// cycle.
#pragma once

#include <vector>

#include "checkers/predictive/witness.h"

namespace heddle::predictive {

// Edges between the two members of an unserializable schedule, from the first to the second and back. The
// explanation that cuts the first member is preferred, then one variable to two, then conflicts to forced
// order. `swapped` tells that only the second member is cut: then the edges go from the second to the first
// and back.
struct PairExplanation {
  std::vector<CycleEdge> edges;
  bool swapped = false;
};

PairExplanation explain_pair(const PairMember& first, const PairMember& second,
                             const std::vector<ScheduledStep>& schedule);

}  // namespace heddle::predictive
