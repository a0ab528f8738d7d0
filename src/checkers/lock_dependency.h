// A thread takes a lock while it holds others: what the search for deadlocks remembers of a run.
#pragma once

#include <deque>
#include <vector>

#include "checkers/lock_places.h"
#include "core/lockset.h"
#include "core/vector_clock.h"
#include "trace/event.h"

namespace heddle {

// One lock taken.
struct Acquisition {
  EventIndex index = 0;
  uint32_t lock = kNoId;
  SiteId site = kNoId;
  PlacesId places = kNoPlaces;  // where the locks held before it and this one were taken
  bool shared = false;
  bool tries = false;
  bool together = false;  // with the one taken before it (is_together())
};

// Why a cycle through a dependency might not be reachable; see deadlock.h for the argument.
enum class Doubt : uint8_t {
  kNone,
  kNotNested,      // the thread released locks in another order than the reverse since it last held none
  kSynchronized,   // it forked, joined, met a barrier, a semaphore or a condition variable since then
  kTried,          // it has given back a lock that it tried for, or took together with others, since then
  kPastHoldsLock,  // something it had to wait for was done by a thread that held a lock
};
inline constexpr uint64_t kDoubts = static_cast<uint64_t>(Doubt::kPastHoldsLock) + 1;

struct Dependency {
  ThreadId thread = 0;
  Acquisition wanted;
  LocksetId held = kEmptyLockset;
  std::vector<Acquisition> holding;  // the members of held, in the order they were taken
  ThreadClock clock;                 // forced order at the acquisition
  uint64_t stretch = 0;              // ForcedOrder::stretch
  Doubt doubt = Doubt::kNone;
};

// Many, in parts: to grow takes no second copy of all of them.
using Dependencies = std::deque<Dependency>;

}  // namespace heddle
