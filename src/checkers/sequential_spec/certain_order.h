// Whether the trace's order of the operations that matter is the one in which they happened.
//
// A trace of a run knows the order of two plain accesses by what orders them: locks, forks, atomics. Where
// nothing does and one of them writes, they race, and the order is only that in which they were told. It
// changes nothing as long as no two operations race that both matter (docs/design/ndseq.md has the proof). So
// the operations that matter, among all synchronization, are searched for a race. Where threads of one task
// share a location, which of its writes is the task's last depends on that order, too: of these locations no
// two accesses may race. Cost: that of `race`, twice if there are such locations.
#pragma once

#include <optional>

#include "checkers/sequential_spec/history.h"
#include "checkers/sequential_spec/relevance.h"

namespace heddle::sequential_spec {

struct UncertainOrder {
  NodeId earlier = kNoNode;
  NodeId later = kNoNode;
};

// The first race that may change the answer.
std::optional<UncertainOrder> find_uncertain_order(const History& history, const Relevance& relevance);

}  // namespace heddle::sequential_spec
