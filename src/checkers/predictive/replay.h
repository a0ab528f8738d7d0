// Whether a run can come to the schedule of a witness.
//
// A schedule of some transactions is judged without the rest of what their threads did. That rest may forbid
// it: a thread that is started under a lock, takes the lock once and only then writes comes after whoever
// started it, though no transaction says so. A replay looks for an order of whole beginnings of the threads,
// with all of their locks, forks, joins, barriers and semaphores, in which the steps of the witness come in
// its order, or at least those that its cycle is made of do. Values are not looked at.
//
// It starts where nothing is lost, and as late as it can:
//   - At the beginning of each member's outermost critical section, if what is forced to come before that
//     leaves every lock free: all of that is possible in the order that was observed. Only the threads of the
//     members act then, and the answer is exact. Most replays are of this kind and cost by what they show.
//   - Else where the first of these critical sections began in the trace, with everybody where he was then.
//   - If that fails, at the beginning of the trace.
// From there it is a search like that of schedule_search.h: what takes no lock only ever helps, so acquires
// alone are tried in turn, in the order of the trace first. Threads go no further than they have to, or until
// they hold no lock.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "checkers/predictive/prerequisites.h"
#include "checkers/predictive/transactions.h"
#include "checkers/predictive/witness.h"

namespace heddle::predictive {

class Replay {
 public:
  explicit Replay(const Transactions& run) : run_(run) {}

  // Sets the witness's feasibility. If it is feasible, its schedule and its order are such an order; of
  // releases after the last other step only those that were come to. `looks_left` is what may be spent, and
  // is counted down. May be called by several threads at a time.
  void judge(Witness& witness, uint64_t& looks_left) const;

 private:
  class Attempt;
  // By event: what it has to come after, besides what it has to in every schedule.
  using Orders = tsl::robin_map<EventIndex, std::vector<Prerequisite>, MixHash>;
  Orders order_of_edges(const Witness& witness) const;
  const Prerequisites& prerequisites() const;

  const Transactions& run_;
  mutable std::once_flag is_ready_;
  mutable std::optional<Prerequisites> prerequisites_;  // when first asked for
};

}  // namespace heddle::predictive
