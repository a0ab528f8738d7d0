// What has to be done before an operation in every schedule: the forced order (checkers/forced_order.h),
// event by event.
#pragma once

#include <tsl/robin_map.h>

#include <map>
#include <vector>

#include "base/hash.h"
#include "checkers/predictive/forcing_chain.h"
#include "checkers/predictive/thread_log.h"

namespace heddle::predictive {

// All that the thread did up to this event, the event included.
struct Prerequisite {
  ThreadId thread = 0;
  EventIndex until = 0;
};

class Prerequisites {
 public:
  explicit Prerequisites(const std::vector<ThreadLog>& logs);

  // Who started the thread, if the trace says so: asked for by all it does.
  const Prerequisite* start_of(ThreadId thread) const;

  // Calls visit(prerequisite) for what an operation waits for besides its own thread.
  template <class Visit>
  void for_each(const LoggedEvent& event, Visit visit) const {
    if (event.kind() == Operation::kJoin) {
      if (const Prerequisite* start = start_of(event.object)) visit(*start);
      visit(Prerequisite{event.object, event.index});
    } else if (event.kind() == Operation::kWait) {
      const auto posts = posts_.find(event.object);
      if (posts == posts_.end()) return;
      for (const auto& [thread, indices] : posts->second) {
        const auto later = std::lower_bound(indices.begin(), indices.end(), event.index);
        if (later != indices.begin()) visit(Prerequisite{thread, *std::prev(later)});
      }
    } else if (event.kind() == Operation::kLeave) {
      const auto phase = phases_.find(event.index);
      if (phase == phases_.end()) return;
      for (const Prerequisite& arrival : arrivals_.at(phase->second)) visit(arrival);
    }
  }

 private:
  tsl::robin_map<ThreadId, Prerequisite, MixHash> starts_;                   // by thread
  std::map<uint32_t, std::map<ThreadId, std::vector<EventIndex>>> posts_;    // by semaphore and thread
  BarrierPhaseNumbers phases_;                                               // by event
  tsl::robin_map<EventIndex, std::vector<Prerequisite>, MixHash> arrivals_;  // by phase
};

}  // namespace heddle::predictive
