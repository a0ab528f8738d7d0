// Deadlocks of small traces, the slow way: lock-order cycles by enumeration from their definition, and
// reachable deadlocks by running every schedule.
#pragma once

#include <compare>
#include <set>
#include <vector>

#include "trace/event.h"

namespace heddle::oracle {

// One participant: its thread has taken one lock, which it holds, and wants another.
struct Participant {
  ThreadId thread;
  EventIndex held;    // where it took the one it holds
  EventIndex wanted;  // where it takes the one it wants

  friend auto operator<=>(const Participant&, const Participant&) = default;
};
using Cycle = std::set<Participant>;

// All cycles of dependencies by pairwise different threads that hold compatible locks and are unordered by
// fork, join, barriers, semaphores, hand-overs and program order, and that contain no smaller cycle.
std::set<Cycle> lock_cycles(const std::vector<Event>& trace);

// For every schedule of the trace's operations, and every circle of threads in it that wait for each other's
// locks: the threads of the circle.
std::set<std::set<ThreadId>> reachable_deadlocks(const std::vector<Event>& trace);

}  // namespace heddle::oracle
