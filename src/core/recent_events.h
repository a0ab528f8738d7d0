// The last events of a trace, kept so that what went wrong near its end can be looked at again without a
// second reading.
#pragma once

#include <algorithm>
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

  // Keeps at least the last `least` events.
  explicit RecentEvents(std::size_t least, Keeps how = Keeps::kPlain) : least_(least), how_(how) {}

  // Takes a copy of the batch. Events that are no longer needed are handed to `forget(EventBatch)` first,
  // oldest first. They come back in batches of another size: a program that waits much tells of a few events
  // at a time, which each for themselves would take more memory than they need.
  template <class Forget>
  void add(const EventBatch& batch, Forget forget) {
    if (!continues(batch)) {
      Kept next = {.first = batch.first};
      while (!batches_.empty() && count_ - batches_.front().count >= least_) {
        Kept& oldest = batches_.front();
        forget(whole(oldest));
        count_ -= oldest.count;
        next.events = std::move(oldest.events);  // its memory serves again
        batches_.pop_front();
      }
      next.events.clear();
      if (!batches_.empty() && how_ == Keeps::kPacked) pack(batches_.back(), next.events);
      batches_.push_back(std::move(next));
    }
    Kept& latest = batches_.back();
    for (const Event& event : batch.events) {
      latest.events.push_back(Small(event));
      if (event.value == kNoId && event.local == kNoId) continue;
      latest.data.resize(latest.events.size() - 1);
      latest.data.push_back({event.value, event.local});
    }
    latest.count += batch.events.size();
    latest.ended_locks.assign(batch.ended_locks.begin(), batch.ended_locks.end());
    count_ += batch.events.size();
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
    std::size_t count = 0;           // of events
    std::vector<Small> events = {};  // until they are packed
    PackedBytes packed = {};
    std::vector<Data> data = {};             // of the first events; the others have none
    std::vector<uint32_t> ended_locks = {};  // after them
  };

  // Whether the batch can be kept together with the latest one.
  bool continues(const EventBatch& batch) const {
    const std::size_t most = std::min<std::size_t>(2'000, least_ / 4);  // events: few too many are kept
    if (batches_.empty()) return false;
    const Kept& latest = batches_.back();
    return latest.ended_locks.empty() && latest.first + latest.count == batch.first &&
           latest.count + batch.events.size() <= most;
  }

  // Leaves the memory of its events to `events`.
  void pack(Kept& kept, std::vector<Small>& events) {
    kept.packed = packer_.pack(std::as_bytes(std::span(kept.events)));
    kept.data.shrink_to_fit();
    events = std::exchange(kept.events, {});
    events.clear();
  }

  // Until the next call.
  EventBatch whole(const Kept& kept) {
    events_.clear();
    const bool is_packed = kept.events.size() < kept.count;
    if (is_packed) {
      smalls_.resize(kept.count);
      packer_.unpack(kept.packed, std::as_writable_bytes(std::span(smalls_)));
    }
    for (const Small& small : is_packed ? smalls_ : kept.events) {
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
  std::vector<Small> smalls_;  // of the batch that is unpacked
  std::vector<Event> events_;  // of the batch that is looked at
};

}  // namespace heddle
