#include "runtime/sync.h"

#include <utility>

#include "runtime/channel.h"
#include "runtime/conflicts.h"
#include "runtime/connection.h"
#include "runtime/contexts.h"
#include "runtime/held_locks.h"
#include "runtime/layout.h"
#include "runtime/memory.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

struct Bucket {
  SpinLock lock;
  Sync* first = nullptr;
};

// Neighbours of 16 bytes each have neighbouring buckets, so that few objects touch little memory and many
// have short lists; every 16 MiB begin at another place.
constexpr unsigned kBucketBits = 20;
constexpr unsigned kNeighbourBits = 4;
Bucket* buckets = nullptr;

constinit SpinLock unused_lock;
Sync* unused = nullptr;

// Where there may be objects: the lines of 64 bytes of each page, and which 2 MiB have any.
constexpr unsigned kLineBits = 6;
constexpr unsigned kPageBits = 12;
constexpr unsigned kRegionBits = 21;
uint64_t* lines = nullptr;
uint8_t* regions = nullptr;

// The same for all objects that begin in the same 8 bytes.
uint64_t hash_of(uint64_t address) { return (address >> 3) * 0x9E3779B97F4A7C15; }
Bucket& bucket_of(uint64_t address) {
  const uint64_t begin = (address >> (kNeighbourBits + kBucketBits)) * 0x9E3779B97F4A7C15;
  return buckets[((address >> kNeighbourBits) + (begin >> (64 - kBucketBits))) % (1U << kBucketBits)];
}

Sync* make_sync(const void* object) {
  Sync* sync;
  {
    const Locked locked(unused_lock);
    sync = unused;
    if (sync != nullptr) unused = sync->next;
  }
  if (sync == nullptr) sync = create<Sync>();
  {
    const Locked locked(sync->lock);
    sync->address = object;
  }
  const uint64_t place = reinterpret_cast<uint64_t>(object) & kAddressMask;
  __atomic_fetch_or(lines + (place >> kPageBits), uint64_t{1} << (place >> kLineBits) % 64, __ATOMIC_RELAXED);
  __atomic_store_n(regions + (place >> kRegionBits), 1, __ATOMIC_RELAXED);
  return sync;
}

void let_go(BarrierPhase* phase) {
  {
    const Locked locked(phase->lock);
    if (--phase->waiting > 0) return;
  }
  destroy(phase);
}

// Under its lock.
void has_changed(Sync& sync) {
  sync.left.store(sync.left.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void clear(Sync& sync) {
  if (sync.phase != nullptr) let_go(std::exchange(sync.phase, nullptr));
  sync.has_completion = false;
  sync.released = Published();
  sync.gathered.clear();
  has_changed(sync);
  forget_conflicts(sync);
  sync.is_held_alone = false;
  sync.holder = sync.depth = 0;
  sync.is_guard = false;
  sync.openings = 0;
  sync.counted_by = 0;
}

void use_again(Sync* sync) {
  const Locked locked(unused_lock);
  sync->next = unused;
  unused = sync;
}

// It is no longer found.
void end(Sync* sync) {
  {
    const Locked locked(sync->lock);
    sync->address = nullptr;
    sync->version += 2;  // nobody knows its value any more
    clear(*sync);
    end_life_of_locks();
  }
  use_again(sync);
}

// Those that begin in the 8 bytes from `granule`, if they lie in [first, last). False: there were none.
bool forget_granule(uint64_t granule, uint64_t first, uint64_t last) {
  Sync* found = nullptr;
  {
    Bucket& bucket = bucket_of(granule);
    const Locked locked(bucket.lock);
    for (Sync** link = &bucket.first; *link != nullptr;) {
      Sync* const sync = *link;
      const auto address = reinterpret_cast<uint64_t>(sync->address);
      if (address >> 3 != granule >> 3 || address < first || address >= last) {
        link = &sync->next;
        continue;
      }
      *link = sync->next;
      sync->next = found;
      found = sync;
    }
  }
  const bool are_there = found != nullptr;
  while (found != nullptr) end(std::exchange(found, found->next));
  return are_there;
}

}  // namespace

void reserve_syncs() {
  buckets = static_cast<Bucket*>(reserve(sizeof(Bucket) << kBucketBits, "locks"));
  lines =
      static_cast<uint64_t*>(reserve(sizeof(uint64_t) << (kAddressBits - kPageBits), "the places of locks"));
  regions =
      static_cast<uint8_t*>(reserve(uint64_t{1} << (kAddressBits - kRegionBits), "the places of locks"));
}

void forget_all_syncs() {
  clear_and_give_back(reinterpret_cast<char*>(buckets), sizeof(Bucket) << kBucketBits);
  unused_lock.unlock();
  unused = nullptr;
  for_each_thread([](Thread& thread) {
    for (Thread::KnownSync& known : thread.syncs) known = {};
    for (Thread::KnownLoad& known : thread.loads) known = {};
  });
}

void forget_sync(const void* object) {
  if (buckets == nullptr) return;  // nothing is checked
  const auto address = reinterpret_cast<uint64_t>(object);
  forget_granule(address & ~uint64_t{7}, address, address + 1);
}

bool forget_syncs(const void* memory, std::size_t size) {
  bool are_there = false;
  const auto first = reinterpret_cast<uint64_t>(memory);
  const uint64_t last = first + size;
  const auto next = [](uint64_t address, unsigned bits) { return ((address >> bits) + 1) << bits; };
  for (uint64_t at = first; at < last;) {
    const uint64_t place = at & kAddressMask;
    if (__atomic_load_n(regions + (place >> kRegionBits), __ATOMIC_RELAXED) == 0) {
      at = next(at, kRegionBits);
      continue;
    }
    uint64_t& of_page = lines[place >> kPageBits];
    const uint64_t known = __atomic_load_n(&of_page, __ATOMIC_RELAXED);
    if (known == 0) {
      at = next(at, kPageBits);
      continue;
    }
    const uint64_t bit = uint64_t{1} << (place >> kLineBits) % 64;
    const uint64_t end_of_line = next(at, kLineBits);
    if ((known & bit) != 0) {
      if (at % 64 == 0 && end_of_line <= last) __atomic_fetch_and(&of_page, ~bit, __ATOMIC_RELAXED);
      for (uint64_t granule = at & ~uint64_t{7}; granule < end_of_line && granule < last; granule += 8)
        are_there |= forget_granule(granule, first, last);
    }
    at = end_of_line;
  }
  return are_there;
}

namespace {

// Without the bucket's lock. Its objects may change places meanwhile; then it is perhaps not found.
Sync* find_in_passing(const Bucket& bucket, const void* address) {
  constexpr unsigned kMostSteps = 8;
  const Sync* at = __atomic_load_n(&bucket.first, __ATOMIC_ACQUIRE);
  for (unsigned steps = 0; at != nullptr && steps < kMostSteps; ++steps) {
    if (__atomic_load_n(&at->address, __ATOMIC_RELAXED) == address) return const_cast<Sync*>(at);
    at = __atomic_load_n(&at->next, __ATOMIC_ACQUIRE);
  }
  return nullptr;
}

Sync* find_or_make(Bucket& bucket, const void* address) {
  const Locked locked(bucket.lock);
  Sync* sync = bucket.first;
  while (sync != nullptr && sync->address != address) sync = sync->next;
  if (sync != nullptr) return sync;
  sync = make_sync(address);
  sync->next = bucket.first;
  __atomic_store_n(&bucket.first, sync, __ATOMIC_RELEASE);
  return sync;
}

Thread::KnownSync& known_like(const void* address) {
  return this_thread->syncs[hash_of(reinterpret_cast<uint64_t>(address)) >> (64 - Thread::kSyncBits)];
}

}  // namespace

Sync& sync_at(const void* address) {
  Thread::KnownSync& known = known_like(address);
  if (known.address == address) return *known.sync;
  Bucket& bucket = bucket_of(reinterpret_cast<uint64_t>(address));
  Sync* sync = find_in_passing(bucket, address);
  if (sync == nullptr) sync = find_or_make(bucket, address);
  known = {.address = address, .sync = sync};
  return *sync;
}

Sync& lock_sync(const void* address) {
  for (;;) {
    Sync& sync = sync_at(address);
    sync.lock.lock();
    if (sync.address == address) return sync;
    // The thread remembers one that has ended.
    sync.lock.unlock();
    this_thread->forget_sync(address);
  }
}

namespace {

// An object's Sync, locked while this lives.
class AtSync {
 public:
  explicit AtSync(const void* object) : sync_(lock_sync(object)) {}
  ~AtSync() { sync_.lock.unlock(); }
  AtSync(const AtSync&) = delete;
  AtSync& operator=(const AtSync&) = delete;
  Sync* operator->() { return &sync_; }
  Sync& operator*() { return sync_; }

 private:
  Inside inside_;
  Sync& sync_;
};

bool acquire_released(AtSync& sync) {
  return this_thread->acquire(sync->released, {sync->released_by, sync->released_in, sync->released_at});
}
bool acquire(AtSync& sync) {
  const uint32_t holder = this_thread->stream + 1;
  sync->depth = sync->holder == holder ? sync->depth + 1 : 1;
  sync->holder = holder;
  const bool is_news = acquire_released(sync);
  const bool is_more = !sync->gathered.is_empty() && this_thread->acquire(sync->gathered);
  Thread::KnownSync& known = known_like(sync->address);
  const uint64_t left = sync->left.load(std::memory_order_relaxed);
  if (known.learnt != left) known.added = Thread::KnownSync::kNotKnown;
  known.learnt = left;
  return is_more || is_news;
}

bool release(AtSync& sync, const void* pc) {
  const uint32_t before = sync->holder;
  const bool is_own = before == this_thread->stream + 1;
  if (!is_own || --sync->depth == 0) sync->holder = sync->depth = 0;
  sync->released_by = this_thread->stream;
  sync->released_at = pc;
  sync->released_in = context_of(heddle_thread_state.frame);
  Thread::KnownSync& known = known_like(sync->address);
  // Whoever gave it back last said all that is to be said, and this thread has learnt that when it took it.
  if (!sync->gathered.is_empty() || !this_thread->adds_nothing_to(sync->released)) {
    sync->released = this_thread->publish();
    sync->gathered.clear();
    has_changed(*sync);
    known.learnt = sync->left.load(std::memory_order_relaxed);
  }
  known.added = this_thread->knowledge;
  return before != 0 && !is_own;
}

void release_shared(AtSync& sync) {
  if (this_thread->adds_nothing_to(sync->gathered)) return;
  sync->gathered.join(this_thread->publish());
  has_changed(*sync);
}

// What the thread knows of a mutex in whose memory nothing need be written; or null. Who has the mutex is not
// kept where nobody is told of it, and must not be known from before.
const Thread::KnownSync* known_in_passing(const void* mutex) {
  const Channel* const to = channel;
  if (to == nullptr || to->is_quiet.load(std::memory_order_relaxed) == 0 || this_thread->giving.time != 0)
    return nullptr;
  const Thread::KnownSync& known = known_like(mutex);
  if (known.address != mutex || __atomic_load_n(&known.sync->holder, __ATOMIC_RELAXED) != 0 ||
      known.learnt != known.sync->left.load(std::memory_order_relaxed))
    return nullptr;
  return &known;
}

}  // namespace

bool acquired_without_news(const void* mutex) {
  const Inside inside;
  return known_in_passing(mutex) != nullptr;
}

bool releasing_without_news(const void* mutex) {
  const Inside inside;
  const Thread::KnownSync* const known = known_in_passing(mutex);
  return known != nullptr && known->added == this_thread->knowledge && !this_thread->has_to_publish();
}

bool acquired(const void* object) {
  if (this_thread == nullptr) return false;
  AtSync sync(object);
  return acquire(sync);
}

bool ordered_after(const void* object) {
  if (this_thread == nullptr) return false;
  AtSync sync(object);
  const bool is_news = this_thread->acquire_beside(sync->released);
  return (!sync->gathered.is_empty() && this_thread->acquire_beside(sync->gathered)) || is_news;
}

uint32_t holder_of(const void* lock) {
  AtSync sync(lock);
  return sync->holder;
}

uint32_t depth_of(const void* lock) {
  AtSync sync(lock);
  return sync->holder == this_thread->stream + 1 ? sync->depth : 0;
}

void acquired_shared(const void* object) {
  if (this_thread == nullptr) return;
  AtSync sync(object);
  acquire_released(sync);
}

bool releasing(const void* object, const void* pc) {
  if (this_thread == nullptr) return false;
  AtSync sync(object);
  return release(sync, pc);
}

void releasing_shared(const void* object) {
  if (this_thread == nullptr) return;
  AtSync sync(object);
  release_shared(sync);
}

void counting(const void* counts) {
  if (this_thread == nullptr) return;
  AtSync sync(counts);
  release_shared(sync);
  const bool is_first = sync->counted_by == 0 || sync->counted_by == this_thread->serial;
  sync->counted_by = is_first ? this_thread->serial : Sync::kSeveral;
}

bool is_counted_by_others(const void* counts) {
  if (this_thread == nullptr) return false;
  AtSync sync(counts);
  return sync->counted_by != 0 && sync->counted_by != this_thread->serial;
}

BarrierPhase* arriving(const void* barrier) {
  if (this_thread == nullptr) return nullptr;
  AtSync sync(barrier);
  if (sync->phase != nullptr && sync->phase->is_over) let_go(std::exchange(sync->phase, nullptr));
  if (sync->phase == nullptr) {
    sync->phase = create<BarrierPhase>();
    sync->phase->waiting = 1;
  }
  BarrierPhase* const phase = sync->phase;
  const Published published = this_thread->publish();
  const Locked locked(phase->lock);
  phase->gathered.join(published);
  ++phase->waiting;
  return phase;
}

void leaving(BarrierPhase* phase) {
  if (phase == nullptr) return;
  {
    const Locked locked(phase->lock);
    phase->is_over = true;
    this_thread->acquire(phase->gathered);
  }
  let_go(phase);
}

void opened(const void* semaphore) {
  if (this_thread == nullptr) return;
  AtSync sync(semaphore);
  ++sync->openings;
}

bool closing(const void* semaphore) {
  if (this_thread == nullptr) return false;
  AtSync sync(semaphore);
  if (sync->openings == 0) return false;
  return --sync->openings == 0;
}

void acquired_alone(const void* lock) {
  if (this_thread == nullptr) return;
  AtSync sync(lock);
  acquire(sync);
  sync->is_held_alone = true;
}

Releasing releasing_alone_or_shared(const void* lock, const void* pc) {
  if (this_thread == nullptr) return {};
  AtSync sync(lock);
  if (std::exchange(sync->is_held_alone, false)) return {true, release(sync, pc)};
  release_shared(sync);
  return {};
}

}  // namespace heddle::runtime
