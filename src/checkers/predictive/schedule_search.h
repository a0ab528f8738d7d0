// Finds a schedule of several transactions in which given steps come in a given order, or that there is none.
//
// Each lane is what one thread does. Steps that are no acquires only ever help: doing a release, a signal or
// an access whose predecessors are done disables nothing, so it is done at once, whatever else could be (the
// partial-order reduction). Only acquires are tried in turn, and states met before are not tried again.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "checkers/predictive/pair_check.h"
#include "core/lockset.h"

namespace heddle::predictive {

struct LaneStep {
  ScheduledStep step;
  bool acquires = false;
  LocksetId held = kEmptyLockset;  // after the step
};
using Lane = std::vector<LaneStep>;

// A step: lane and position in it.
struct LanePlace {
  uint32_t lane = 0;
  uint32_t step = 0;
};
struct OrderConstraint {
  LanePlace before;
  LanePlace after;
};

struct SearchAnswer {
  bool exhausted = false;  // the budget ran out first
  std::optional<std::vector<ScheduledStep>> schedule;
};

// `steps_left` is what may still be spent, and is counted down.
SearchAnswer find_schedule(const std::vector<Lane>& lanes, const std::vector<OrderConstraint>& constraints,
                           const LocksetTable& locksets, uint64_t& steps_left);

}  // namespace heddle::predictive
