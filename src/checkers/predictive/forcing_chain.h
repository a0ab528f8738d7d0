// By which operations the forced order puts one transaction before another: forks, joins, barriers and
// semaphores, of whatever thread, inside transactions or outside.
#pragma once

#include <tsl/robin_map.h>

#include <vector>

#include "base/hash.h"

#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

// A shortest way in the order of the trace, from what `from` did at `since` or later to what `to` did at
// `until` or earlier: signals and receipts, each after the one before it. A departure from a barrier brings
// along its own thread's arrival. Empty: there is none.
struct ForcingChain {
  std::vector<Origin> steps;
  std::vector<Origin> arrivals;  // of those who leave
};

ForcingChain find_forcing_chain(const std::vector<Origin>& synchronizations, ThreadId from, EventIndex since,
                                ThreadId to, EventIndex until);

// By event: which phase of its barrier an arrival or departure belongs to. Arrivals that nobody left are in
// none.
using BarrierPhaseNumbers = tsl::robin_map<EventIndex, EventIndex, MixHash>;
BarrierPhaseNumbers find_phases(const std::vector<Origin>& synchronizations);

}  // namespace heddle::predictive
