// The last events of a trace, as they are kept: plain or packed, they come back as they were.
#include "core/recent_events.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>
#include <vector>

namespace heddle {
namespace {

struct Batch {
  EventIndex first;
  std::vector<Event> events;
  std::vector<uint32_t> ended_locks;
};

Batch copy_of(const EventBatch& batch) {
  return {batch.first,
          {batch.events.begin(), batch.events.end()},
          {batch.ended_locks.begin(), batch.ended_locks.end()}};
}

Event any_event() {
  const auto id = [] { return *rc::gen::oneOf(rc::gen::inRange(0U, 4U), rc::gen::arbitrary<uint32_t>()); };
  // Most have no data.
  const auto data = [] {
    return *rc::gen::weightedOneOf<uint32_t>(
        {{5, rc::gen::just(kNoId)}, {1, rc::gen::arbitrary<uint32_t>()}});
  };
  return {static_cast<Operation>(*rc::gen::inRange(0, static_cast<int>(kStoredOperations))),
          MemoryOrder::kRelaxed,
          *rc::gen::inRange<uint16_t>(0, 1U << 15),
          *rc::gen::arbitrary<bool>(),
          id(),
          id(),
          id(),
          data(),
          data()};
}

std::vector<Batch> any_batches() {
  std::vector<Batch> batches(*rc::gen::inRange<std::size_t>(0, 12));
  // Several of the small ones are kept together, but not all of the large ones.
  const auto most = *rc::gen::element<std::size_t>(40, 1500);
  EventIndex next = 0;
  for (Batch& batch : batches) {
    batch = {next, std::vector<Event>(*rc::gen::inRange<std::size_t>(1, most)), {}};
    for (Event& event : batch.events) event = any_event();
    if (*rc::gen::arbitrary<bool>()) batch.ended_locks = {1, 5};
    next += batch.events.size();
  }
  return batches;
}

// What batches hold, however it is cut into them.
struct Whole {
  std::vector<Event> events;
  std::vector<std::pair<EventIndex, uint32_t>> ended_locks;  // after how many events

  void add(const Batch& batch) {
    RC_ASSERT(batch.first == events.size());
    events.insert(events.end(), batch.events.begin(), batch.events.end());
    for (const uint32_t lock : batch.ended_locks) ended_locks.emplace_back(events.size(), lock);
  }
  friend bool operator==(const Whole&, const Whole&) = default;
};

RC_GTEST_PROP(RecentEvents, AreForgottenOldestFirstAndElseKept, ()) {
  std::vector<Batch> batches = any_batches();
  const auto least = *rc::gen::element<std::size_t>(0, 20, 200, 3000);
  const auto how = *rc::gen::element(RecentEvents::Keeps::kPlain, RecentEvents::Keeps::kPacked);
  RecentEvents recent(least, how);
  Whole all;
  Whole seen;
  for (Batch& batch : batches) {
    all.add(batch);
    recent.add({batch.first, batch.events, batch.ended_locks},
               [&](const EventBatch& oldest) { seen.add(copy_of(oldest)); });
  }
  RC_ASSERT(recent.first() == seen.events.size());
  const std::size_t forgotten = seen.events.size();
  recent.for_each_batch([&](const EventBatch& batch) { seen.add(copy_of(batch)); });
  RC_ASSERT(seen == all);
  RC_ASSERT(all.events.size() - forgotten >= std::min(least, all.events.size()));
}

}  // namespace
}  // namespace heddle
