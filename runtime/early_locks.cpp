#include "runtime/early_locks.h"

#include "runtime/calm.h"
#include "runtime/contexts.h"
#include "runtime/growing_array.h"
#include "runtime/inside.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// As deep as reports show a call stack.
constexpr uint32_t kMostFrames = 32;

struct EarlyLock {
  const void* lock;
  const void* pc;
  Operation operation;
  uint32_t extra;
  uint32_t depth;
  const void* callers[kMostFrames];  // innermost first
};

// A recursive lock stands here as often as it was taken.
constinit GrowingArray<EarlyLock> held;

}  // namespace

void remember_lock(Operation operation, const void* lock, const void* pc, uint32_t extra) {
  const Inside inside;
  EarlyLock& taken = held.add();
  taken.lock = lock;
  taken.pc = pc;
  taken.operation = operation;
  taken.extra = extra;
  taken.depth = 0;
  for (const HeddleFrame* frame = heddle_thread_state.frame; frame != nullptr && taken.depth < kMostFrames;
       frame = frame->caller)
    taken.callers[taken.depth++] = frame->return_address;
}

// Most locks are given back in the opposite order.
void forget_lock(const void* lock) {
  const Inside inside;
  for (uint32_t i = held.size(); i > 0; --i)
    if (held[i - 1].lock == lock) return held.remove(i - 1);
}

void forget_locks(const void* memory, std::size_t size) {
  if (held.empty() || this_thread == nullptr) return;  // threads that are not checked free memory, too
  const Inside inside;
  const auto begin = reinterpret_cast<uint64_t>(memory);
  for (uint32_t i = held.size(); i > 0; --i)
    if (const auto at = reinterpret_cast<uint64_t>(held[i - 1].lock); at >= begin && at < begin + size)
      held.remove(i - 1);
}

bool holds_early_lock(const void* lock) {
  for (uint32_t i = 0; i < held.size(); ++i)
    if (held[i].lock == lock) return true;
  return false;
}

void tell_early_locks() {
  const Inside inside;
  for (uint32_t i = 0; i < held.size(); ++i) {
    const EarlyLock& taken = held[i];
    uint32_t context = 0;
    for (uint32_t depth = taken.depth; depth > 0; --depth)
      context = context_of(context, taken.callers[depth - 1]);
    tell_lock_taken(taken.operation, taken.lock, taken.pc, taken.extra, context);
  }
  held.clear();
}

}  // namespace heddle::runtime
