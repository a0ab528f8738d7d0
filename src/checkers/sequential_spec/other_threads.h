// Whether the order of tasks is all that matters.
//
// Tasks are put in an order as wholes; what their parent does meanwhile, by a thread that is in none of them
// (one that tasks hand work to, or that looks at how far they are), has no place in that order. It changes
// nothing as long as it is in no relevant conflict with them. Cost: one look at each node, if there is such a
// thread at all.
#pragma once

#include <optional>

#include "checkers/sequential_spec/history.h"
#include "checkers/sequential_spec/relevance.h"

namespace heddle::sequential_spec {

struct Interference {
  NodeId beside = kNoNode;  // what the thread in no task did …
  NodeId inside = kNoNode;  // … and a task, to the same location
};

// The first one that may change the answer.
std::optional<Interference> find_interference(const History& history, const Relevance& relevance);

}  // namespace heddle::sequential_spec
