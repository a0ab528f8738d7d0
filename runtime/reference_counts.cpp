#include "runtime/reference_counts.h"

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

const uint32_t* count_of(const void* counts) { return &static_cast<const Counts*>(counts)->pointers; }

// `extra`: how many pointers there are, or the memory order.
void tell_of(Thread& thread, Operation operation, const void* counts, uint32_t extra, const void* pc) {
  tell(thread, {.operation = static_cast<uint8_t>(operation),
                .address = count_of(counts),
                .pc = pc,
                .size = sizeof(uint32_t),
                .extra = extra,
                .name = reinterpret_cast<uint64_t>("use_count")});
}

}  // namespace

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
  const uint32_t pointers = *count_of(counts);
  if (Thread* const thread = telling_thread(); thread != nullptr) {
    switch (operation) {
      case kHeddleReferenceCopy: tell_of(*thread, Operation::kTake, counts, pointers, pc); break;
      case kHeddleReferenceDrop: tell_of(*thread, Operation::kDrop, counts, pointers, pc); break;
      case kHeddleReferenceLock:
        tell_of(*thread, Operation::kAlive, counts, succeeded ? pointers - 1 : 0, pc);
        if (succeeded) tell_of(*thread, Operation::kTake, counts, pointers, pc);
        break;
      case kHeddleReferenceEnded: tell_of(*thread, Operation::kAlive, counts, pointers, pc); break;
      default:
        tell_of(*thread, Operation::kAtomicRead, counts, static_cast<uint32_t>(MemoryOrder::kRelaxed), pc);
        break;
    }
  }
  sync_at(count_of(counts)).lock.unlock();
  leave_runtime();
}

}  // namespace heddle::runtime
