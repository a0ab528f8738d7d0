// The last events of a trace, kept so that what went wrong near its end can be looked at again without a
// second reading.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/packed_bytes.h"
#include "trace/event.h"

namespace heddle {

class RecentEvents {
 public:
  // Packed they take a fraction of the memory, and time for each event: a running program's monitor has that,
  // and lives beside the program.
  enum class Keeps : bool { kPlain, kPacked };

  // Keeps at least the last `least` events, as whole batches.
  explicit RecentEvents(std::size_t least, Keeps how = Keeps::kPlain) : least_(least), how_(how) {}

  // Takes a copy of the batch. Batches that are no longer needed are handed to `forget(EventBatch)` first,
  // oldest first.
  template <class Forget>
  void add(const EventBatch& batch, Forget forget) {
    Kept copy;
    while (!batches_.empty() && count_ - batches_.front().count >= least_) {
      Kept& oldest = batches_.front();
      forget(whole(oldest));
      count_ -= oldest.count;
      copy = std::move(oldest);  // its memory serves again
      batches_.pop_front();
    }
    copy.first = batch.first;
    copy.count = batch.events.size();
    copy.data.clear();
    std::vector<Small>& events = how_ == Keeps::kPacked ? smalls_ : copy.events;
    events.clear();
    events.reserve(batch.events.size());
    for (const Event& event : batch.events) {
      events.push_back(Small(event));
      if (event.value == kNoId && event.local == kNoId) continue;
      copy.data.resize(events.size() - 1);
      copy.data.push_back({event.value, event.local});
    }
    if (how_ == Keeps::kPacked) copy.packed = packer_.pack(std::as_bytes(std::span(smalls_)));
    copy.ended_locks.assign(batch.ended_locks.begin(), batch.ended_locks.end());
    count_ += copy.count;
    batches_.push_back(std::move(copy));
  }

  // Index of the first event kept; 0 if there is none.
  EventIndex first() const { return batches_.empty() ? 0 : batches_.front().first; }

  template <class Visit>
  void for_each_batch(Visit visit) {
    for (const Kept& batch : batches_) visit(whole(batch));
  }

 private:
  // An event without its data, which most have not.
  struct Small {
    Operation operation;
    MemoryOrder order;
    uint16_t size : 15;
    bool tries : 1;
    ThreadId thread;
    uint32_t object;
    SiteId site;

    Small() = default;
    explicit Small(const Event& event)
        : operation(event.operation),
          order(event.order),
          size(event.size),
          tries(event.tries),
          thread(event.thread),
          object(event.object),
          site(event.site) {}
  };
  static_assert(sizeof(Small) == 16);
  struct Data {
    uint32_t value = kNoId;
    uint32_t local = kNoId;
  };
  struct Kept {
    EventIndex first = 0;
    std::size_t count = 0;      // of events
    std::vector<Small> events;  // if they are not packed
    PackedBytes packed;         // if they are
    std::vector<Data> data;     // of the first events; the others have none
    std::vector<uint32_t> ended_locks;
  };

  // Until the next call.
  EventBatch whole(const Kept& kept) {
    events_.clear();
    if (how_ == Keeps::kPacked) {
      smalls_.resize(kept.count);
      packer_.unpack(kept.packed, std::as_writable_bytes(std::span(smalls_)));
    }
    for (const Small& small : how_ == Keeps::kPacked ? smalls_ : kept.events) {
      const std::size_t at = events_.size();
      const Data data = at < kept.data.size() ? kept.data[at] : Data();
      events_.push_back({small.operation, small.order, small.size, small.tries, small.thread, small.object,
                         small.site, data.value, data.local});
    }
    return {kept.first, events_, kept.ended_locks};
  }

  std::size_t least_;
  Keeps how_;
  std::size_t count_ = 0;  // of events in batches_
  std::deque<Kept> batches_;
  BytePacker packer_;
  std::vector<Small> smalls_;  // of the batch that is packed or unpacked
  std::vector<Event> events_;  // of the batch that is looked at
};

}  // namespace heddle
