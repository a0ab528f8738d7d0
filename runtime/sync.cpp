#include "runtime/sync.h"

#include <utility>

#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

struct Bucket {
  SpinLock lock;
  Sync* first = nullptr;
};

constexpr unsigned kBucketBits = 14;
constinit Bucket buckets[1U << kBucketBits];

}  // namespace

Sync& sync_at(const void* address) {
  const uint64_t hash = (reinterpret_cast<uint64_t>(address) >> 3) * 0x9E3779B97F4A7C15;
  Bucket& bucket = buckets[hash >> (64 - kBucketBits)];
  const Locked locked(bucket.lock);
  for (Sync* sync = bucket.first; sync != nullptr; sync = sync->next)
    if (sync->address == address) return *sync;
  Sync* const sync = create<Sync>();
  sync->address = address;
  sync->next = bucket.first;
  return *(bucket.first = sync);
}

void acquired(const void* object) {
  if (this_thread == nullptr) return;
  Sync& sync = sync_at(object);
  const Locked locked(sync.lock);
  this_thread->acquire(sync.released);
  this_thread->acquire(sync.gathered);
}

void acquired_shared(const void* object) {
  if (this_thread == nullptr) return;
  Sync& sync = sync_at(object);
  const Locked locked(sync.lock);
  this_thread->acquire(sync.released);
}

void releasing(const void* object) {
  if (this_thread == nullptr) return;
  Sync& sync = sync_at(object);
  const Locked locked(sync.lock);
  sync.released = this_thread->publish();
  sync.gathered.clear();
}

void releasing_shared(const void* object) {
  if (this_thread == nullptr) return;
  Sync& sync = sync_at(object);
  const Published published = this_thread->publish();
  const Locked locked(sync.lock);
  sync.gathered.join(published);
}

void acquired_alone(const void* lock) {
  if (this_thread == nullptr) return;
  acquired(lock);
  Sync& sync = sync_at(lock);
  const Locked locked(sync.lock);
  sync.is_held_alone = true;
}

void releasing_alone_or_shared(const void* lock) {
  if (this_thread == nullptr) return;
  Sync& sync = sync_at(lock);
  // Nobody else changes it while this thread has the lock.
  bool was_held_alone;
  {
    const Locked locked(sync.lock);
    was_held_alone = std::exchange(sync.is_held_alone, false);
  }
  if (was_held_alone) {
    releasing(lock);
  } else {
    releasing_shared(lock);
  }
}

}  // namespace heddle::runtime
