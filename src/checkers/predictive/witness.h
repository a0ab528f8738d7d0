// A set of transactions and an order of their steps that no serial order explains.
#pragma once

#include <cstdint>
#include <vector>

#include "checkers/predictive/pair_check.h"
#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

// One transaction of a cycle.
struct CycleMember {
  uint32_t group = 0;   // in Transactions::groups
  bool latest = false;  // the group's latest transaction; else its earliest
};

// Why a member comes before the next one; the last before the first.
struct CycleEdge {
  bool is_forced = false;
  uint32_t from = 0;  // step of the member; not of forced ones
  uint32_t to = 0;    // step of the next member
};

// Whether the run as a whole can come to the schedule (replay.h).
enum class Feasibility : uint8_t {
  kUnknown,     // not asked, or the budget ended before there was an answer
  kInfeasible,  // what the threads did before, or between, forbids it
  kFeasible,
};

struct Witness {
  std::vector<CycleMember> members;
  std::vector<CycleEdge> edges;  // edges[i] goes from members[i] to the next; empty: not known yet
  std::vector<ScheduledStep> schedule;
  std::vector<bool> is_proved{};  // by member: reduction clears it, so it is not to blame
  Feasibility feasibility = Feasibility::kUnknown;
  // Of a feasible one: its steps and the forks, joins, barrier and semaphore operations of other places, in
  // the order in which the run comes to them; what is not there comes before all of these.
  std::vector<EventIndex> order{};
};

inline const Instance& instance_of(const Transactions& run, const CycleMember& member) {
  const Group& group = run.groups[member.group];
  return member.latest ? group.latest : group.earliest;
}

inline EventIndex index_of(const Transactions& run, const CycleMember& member, uint32_t step) {
  const Group& group = run.groups[member.group];
  return origin_of(run.shapes[group.shape], group, member.latest, step).index;
}

}  // namespace heddle::predictive
