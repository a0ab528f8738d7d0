// The definition of a data race, computed the slow way: every ordering edge between every two events,
// transitively closed. Quadratic and worse; for traces of some dozens of events.
#pragma once

#include <utility>
#include <vector>

#include "trace/event.h"

namespace heddle::oracle {

// ordered[i][j]: event i happens before event j.
std::vector<std::vector<bool>> happens_before(const std::vector<Event>& trace);

// All pairs (earlier, later) of events that race.
std::vector<std::pair<EventIndex, EventIndex>> races(const std::vector<Event>& trace);

}  // namespace heddle::oracle
