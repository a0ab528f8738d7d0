#include "runtime/reference_counts.h"

#include <atomic>

#include "runtime/flow.h"
#include "runtime/flow_thread.h"
#include "runtime/inside.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// std::_Sp_counted_base, and where std::weak_ptr keeps it.
struct Counts {
  const void* functions;
  uint32_t pointers;
  uint32_t weak_pointers;
};
struct WeakPointer {
  const void* object;
  const Counts* counts;
};

uint64_t hash_of(const void* counts) {
  return (reinterpret_cast<uint64_t>(counts) >> 4) * 0x9E37'79B9'7F4A'7C15;
}

// How often an object has died whose counts lay there, or at another address with the same hash: what a
// thread holds of one that is dead is not held of the next one in its place.
constexpr unsigned kDeathBits = 12;
constinit std::atomic<uint32_t> deaths_by_hash[1 << kDeathBits] = {};
std::atomic<uint32_t>& deaths_at(const void* counts) {
  return deaths_by_hash[hash_of(counts) >> (64 - kDeathBits)];
}

uint32_t scope_now() { return flow_thread.tasks + flow_thread.maybes; }

const Counts& as_counts(const void* counts) { return *static_cast<const Counts*>(counts); }
const uint32_t* count_of(const void* counts) { return &as_counts(counts).pointers; }
const uint32_t* life_of(const void* counts) { return &as_counts(counts).weak_pointers; }

void tell_of(Thread& thread, Operation operation, const uint32_t* what, const char* name, const void* pc) {
  const uint32_t order = operation == Operation::kCount ? 0 : static_cast<uint32_t>(MemoryOrder::kRelaxed);
  tell(thread, {.operation = static_cast<uint8_t>(operation),
                .address = what,
                .pc = pc,
                .size = sizeof(uint32_t),
                .extra = order,
                .name = reinterpret_cast<uint64_t>(name)});
}
void tell_life(Thread& thread, Operation operation, const void* counts, const void* pc) {
  tell_of(thread, operation, life_of(counts), "expired", pc);
}
void tell_count(Thread& thread, Operation operation, const void* counts, const void* pc) {
  tell_of(thread, operation, count_of(counts), "use_count", pc);
}

// Where the thread's own are; what it held of an object that is dead is told as kept.
HeldPointers& held_of(Thread& thread, const void* counts, const void* pc) {
  HeldPointers& held = flow_thread.held.at(counts, scope_now());
  if (held.number == 0 || held.deaths == deaths_at(counts).load(std::memory_order_relaxed)) return held;
  held.number = 1;
  flow_thread.held.dropped(held);
  tell_life(thread, Operation::kCount, counts, pc);
  return flow_thread.held.at(counts, scope_now());
}

void take(Thread& thread, const void* counts, const void* pc) {
  tell_count(thread, Operation::kCount, counts, pc);
  flow_thread.held.taken(held_of(thread, counts, pc), counts, scope_now(),
                         deaths_at(counts).load(std::memory_order_relaxed));
}

void drop(Thread& thread, const void* counts, const void* pc) {
  tell_count(thread, Operation::kCount, counts, pc);
  HeldPointers& held = held_of(thread, counts, pc);
  const bool is_own = held.number > 0;
  if (is_own) flow_thread.held.dropped(held);
  const bool is_last = as_counts(counts).pointers == 0;
  if (!is_own || is_last) tell_life(thread, Operation::kCount, counts, pc);
}

}  // namespace

uint32_t Held::place_of(const void* counts, uint32_t scope) const {
  return static_cast<uint32_t>((hash_of(counts) + scope) >> 32) & (places_ - 1);
}

HeldPointers& Held::at(const void* counts, uint32_t scope) {
  if (2 * (used_ + 1) > places_) grow();
  uint32_t i = place_of(counts, scope);
  while (table_[i].number != 0 && (table_[i].counts != counts || table_[i].scope != scope))
    i = (i + 1) & (places_ - 1);
  return table_[i];
}

void Held::taken(HeldPointers& place, const void* counts, uint32_t scope, uint32_t deaths) {
  if (place.number == 0) {
    ++used_;
    place = {counts, scope, 0, deaths};
  }
  ++place.number;
}

void Held::dropped(HeldPointers& place) {
  if (place.number > 1) {
    --place.number;
  } else {
    remove(static_cast<uint32_t>(&place - table_));
  }
}

// What was put behind it for want of a place moves up.
void Held::remove(uint32_t at) {
  --used_;
  for (uint32_t next = (at + 1) & (places_ - 1); table_[next].number != 0;
       next = (next + 1) & (places_ - 1)) {
    const uint32_t wanted = place_of(table_[next].counts, table_[next].scope);
    if (((next - wanted) & (places_ - 1)) < ((next - at) & (places_ - 1))) continue;
    table_[at] = table_[next];
    at = next;
  }
  table_[at].number = 0;
}

void Held::grow() {
  HeldPointers* const old = table_;
  const uint32_t count = places_;
  places_ = count == 0 ? 16 : count * 2;
  table_ = static_cast<HeldPointers*>(allocate(places_ * sizeof(HeldPointers)));
  for (uint32_t i = 0; i < places_; ++i) table_[i].number = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (old[i].number != 0) at(old[i].counts, old[i].scope) = old[i];
  if (old != nullptr) deallocate(old, count * sizeof(HeldPointers));
}

void Held::give_back() {
  if (table_ != nullptr) deallocate(table_, places_ * sizeof(HeldPointers));
  table_ = nullptr;
  places_ = used_ = 0;
}

const void* counts_of(HeddleLibraryOperation operation, const void* object) {
  return operation == kHeddleReferenceEnded ? static_cast<const WeakPointer*>(object)->counts : object;
}

void begin_count(HeddleLibraryOperation operation, const void* counts) {
  if (!follows_data || operation == kHeddleReferenceCount) return;
  flow_thread.counting = counts;
  enter_runtime();  // until end_count()
  lock_sync(count_of(counts));
}

void end_count(HeddleLibraryOperation operation, bool succeeded, const void* pc) {
  const void* const counts = flow_thread.counting;
  if (counts == nullptr) return;
  flow_thread.counting = nullptr;
  if (Thread* const thread = telling_thread(); thread != nullptr) {
    switch (operation) {
      case kHeddleReferenceCopy: take(*thread, counts, pc); break;
      case kHeddleReferenceDrop: drop(*thread, counts, pc); break;
      case kHeddleReferenceLock:
        tell_life(*thread, Operation::kAtomicRead, counts, pc);
        if (succeeded) take(*thread, counts, pc);
        break;
      case kHeddleReferenceEnded: tell_life(*thread, Operation::kAtomicRead, counts, pc); break;
      default: tell_count(*thread, Operation::kAtomicRead, counts, pc); break;
    }
  }
  if (operation == kHeddleReferenceDrop && as_counts(counts).pointers == 0)
    deaths_at(counts).fetch_add(1, std::memory_order_relaxed);
  sync_at(count_of(counts)).lock.unlock();
  leave_runtime();
}

void end_held(const void* pc) {
  Thread* const thread = telling_thread();
  const Inside inside;
  flow_thread.held.end(scope_now(), [&](const void* counts) {
    if (thread != nullptr) tell_life(*thread, Operation::kCount, counts, pc);
  });
}

}  // namespace heddle::runtime
