// The last events of a trace, as they are kept: plain or packed, they come back as they were.
#include "core/recent_events.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace heddle {
namespace {

struct Batch {
  EventIndex first;
  std::vector<Event> events;
  std::vector<uint32_t> ended_locks;

  friend bool operator==(const Batch&, const Batch&) = default;
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
  EventIndex next = 0;
  for (Batch& batch : batches) {
    batch = {next, std::vector<Event>(*rc::gen::inRange<std::size_t>(1, 40)), {}};
    for (Event& event : batch.events) event = any_event();
    if (*rc::gen::arbitrary<bool>()) batch.ended_locks = {1, 5};
    next += batch.events.size();
  }
  return batches;
}

RC_GTEST_PROP(RecentEvents, AreForgottenOldestFirstAndElseKept, ()) {
  std::vector<Batch> batches = any_batches();
  const auto least = *rc::gen::inRange<std::size_t>(0, 200);
  const auto how = *rc::gen::element(RecentEvents::Keeps::kPlain, RecentEvents::Keeps::kPacked);
  RecentEvents recent(least, how);
  std::vector<Batch> seen;
  for (Batch& batch : batches)
    recent.add({batch.first, batch.events, batch.ended_locks},
               [&](const EventBatch& oldest) { seen.push_back(copy_of(oldest)); });
  std::size_t kept = 0;
  RC_ASSERT(recent.first() == (batches.empty() ? 0 : batches[seen.size()].first));
  recent.for_each_batch([&](const EventBatch& batch) {
    kept += batch.events.size();
    seen.push_back(copy_of(batch));
  });
  RC_ASSERT(seen == batches);
  const std::size_t all = batches.empty() ? 0 : batches.back().first + batches.back().events.size();
  RC_ASSERT(kept >= std::min(least, all));
}

}  // namespace
}  // namespace heddle
