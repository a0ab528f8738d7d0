// The last events of a trace, kept so that what went wrong near its end can be looked at again without a
// second reading.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "trace/event.h"

namespace heddle {

class RecentEvents {
 public:
  // Keeps at least the last `least` events, as whole batches.
  explicit RecentEvents(std::size_t least) : least_(least) {}

  // Takes a copy of the batch. Batches that are no longer needed are handed to `forget(EventBatch)` first,
  // oldest first.
  template <class Forget>
  void add(const EventBatch& batch, Forget forget) {
    std::vector<Event> copy;
    while (!batches_.empty() && count_ - batches_.front().events.size() >= least_) {
      Kept& oldest = batches_.front();
      forget(oldest.batch());
      count_ -= oldest.events.size();
      copy = std::move(oldest.events);  // its memory serves again
      batches_.pop_front();
    }
    copy.assign(batch.events.begin(), batch.events.end());
    count_ += copy.size();
    batches_.push_back({batch.first, std::move(copy), {batch.ended_locks.begin(), batch.ended_locks.end()}});
  }

  // Index of the first event kept; 0 if there is none.
  EventIndex first() const { return batches_.empty() ? 0 : batches_.front().first; }

  template <class Visit>
  void for_each_batch(Visit visit) {
    for (Kept& batch : batches_) visit(batch.batch());
  }

 private:
  struct Kept {
    EventIndex first;
    std::vector<Event> events;
    std::vector<uint32_t> ended_locks;

    EventBatch batch() { return {first, events, ended_locks}; }
  };

  std::size_t least_;
  std::size_t count_ = 0;  // of events in batches_
  std::deque<Kept> batches_;
};

}  // namespace heddle
