#include "runtime/sync.h"

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

}  // namespace heddle::runtime
