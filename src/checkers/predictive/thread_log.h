// What each thread did with locks and with other threads, in or out of transactions: what decides which
// events of a run can come first. The search for violations needs none of it; the replay of what it found
// (replay.h) and the report do.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "trace/event.h"

namespace heddle::predictive {

struct Origin;
struct Transactions;

// An acquire, release, fork, join, arrive, leave, post or wait.
struct LoggedEvent {
  uint64_t index : 48;
  uint64_t operation : 8;
  uint64_t leaves_free : 8;  // its thread holds no lock after it
  uint32_t object;
  SiteId site;

  Operation kind() const { return static_cast<Operation>(operation); }
  bool takes() const { return kind() == Operation::kAcquire || kind() == Operation::kAcquireShared; }
  bool gives_back() const { return kind() == Operation::kRelease || kind() == Operation::kReleaseShared; }
  bool locks() const { return takes() || gives_back(); }
};
static_assert(sizeof(LoggedEvent) == 16);

using ThreadLog = std::deque<LoggedEvent>;  // ascending by index

// The first entry at `index` or after it.
std::size_t place_of(const ThreadLog& log, EventIndex index);

// The last place up to this one at which the thread holds no lock.
std::size_t free_place_before(const ThreadLog& log, std::size_t place);

// All that is no locking, of all threads, in the order of the trace.
std::vector<Origin> list_synchronizations(const std::vector<ThreadLog>& logs);

// A thread may hold more locks at once than this; what it takes beyond them is not counted as taken, so that
// nested locks cost no more than in proportion.
inline constexpr std::size_t kMostHeld = 128;

// Fills in Instance::before and Instance::after of all groups.
void find_holdings(Transactions& run);

}  // namespace heddle::predictive
