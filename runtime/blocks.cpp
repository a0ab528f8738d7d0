// Blocks that should be atomic or deterministic, as the thread enters and leaves them, and operations of the
// standard library that count as a whole.
#include "runtime/blocks.h"

#include <algorithm>
#include <utility>

#include "runtime/atomics.h"
#include "runtime/contexts.h"
#include "runtime/early_locks.h"
#include "runtime/interpose/real.h"
#include "runtime/interpose/threads.h"
#include "runtime/reference_counts.h"
#include "runtime/spans.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

using State = OpenBlocks::State;

// What a block does must be told apart from what the one before did, even where no synchronization lies
// between: so the outermost boundaries begin a new stretch. In a recording all do: there, blocks within
// others are judged as exactly.
bool begins_stretch(bool is_outermost) { return is_outermost || tells_all_of_stretch; }

Told begin_of(const OpenBlocks::Open& open, const void* pc) {
  Told told = told_begin(open);
  told.pc = pc;
  told.context = Told::kNow;
  return told;
}
Told end_of(const OpenBlocks::Open& open, const void* pc) {
  return {.operation = static_cast<uint8_t>(Operation::kEnd),
          .pc = pc,
          .name = reinterpret_cast<uint64_t>(open.block->name)};
}

// Others look at the blocks of a thread that has given something (runtime/spans.h).
template <class Change>
[[gnu::always_inline]] inline void change_blocks(Thread& thread, Change change) {
  if (thread.giving.time == 0) return change();
  const Locked locked(thread.giving_lock);
  change();
  thread.giving.blocks = std::min(thread.giving.blocks, thread.blocks.size());
}

void leave_inner(Thread& thread, const void* pc) {
  State state = State::kUntold;
  const OpenBlocks::Open& inner = thread.blocks.inner();  // stays where it is until another one begins
  change_blocks(thread, [&] {
    state = inner.state;
    thread.blocks.pop();
  });
  thread.held.leave_blocks(thread.blocks.size());
  const bool is_outermost = !thread.blocks.any_matters();
  if (is_outermost && thread.has_given()) forget_given(thread);
  const bool needs_stretch = begins_stretch(is_outermost);
  switch (state) {
    case State::kLeft:
    case State::kUntold: return;
    case State::kTold:
      if (needs_stretch) thread.new_stretch();
      return tell_unordered(thread, end_of(inner, pc));
    case State::kPending:
      if (!needs_stretch || inner.breaks == OpenBlocks::Open::kNoStretch) return;
      if (heddle_thread_state.stamp == kNoStamp && inner.breaks == thread.breaks) {
        heddle_thread_state.stamp = inner.stamp;
        heddle_thread_state.group = inner.group;
      } else {
        thread.new_stretch();
      }
  }
}

// The last to arrive runs the barrier's completion function: after all arrivals, before anybody goes on.
void enter_completion(Thread& thread, const void* barrier, const void* pc) {
  thread.depth_outside_completion = thread.library_depth;
  thread.library_depth = 0;
  heddle_thread_state.thread = is_parallel ? &thread : nullptr;
  leaving(std::exchange(thread.phase, nullptr));
  acquired(barrier);
  tell(Operation::kLeave, barrier, pc);
}
void leave_completion(Thread& thread, const void* barrier, const void* pc) {
  sync_at(barrier).has_completion = true;
  releasing_shared(barrier);
  tell_handed_over(barrier, pc);
  thread.library_depth = thread.depth_outside_completion;
  heddle_thread_state.thread = nullptr;
}

bool ends_pointer_operation(HeddleLibraryOperation operation) {
  return operation == kHeddlePointerRead || operation == kHeddlePointerUpdate ||
         operation == kHeddlePointerWait;
}

// What the thread has done and what it will do are no longer parts of the same blocks.
void enter_disposal(Thread& thread, const void* counts, const void* pc) {
  if (thread.disposals++ > 0 || thread.library_depth > 0) return;
  thread.left_for_disposal = is_counted_by_others(counts) ? leave_atomic_blocks(thread, pc) : 0;
}
void leave_disposal(Thread& thread, const void* pc) {
  if (--thread.disposals > 0) return;
  const uint32_t left = std::exchange(thread.left_for_disposal, 0);
  if (left == 0) return;
  thread.new_stretch();
  enter_atomic_blocks_again(thread, left, pc);
}

// One atomic operation, in the name of the program. The library makes all orders at least so strong, and all
// that it does to the count are read-modify-writes: no release sequence ends.
void access_pointer(Thread& thread, const void* count, bool writes, const void* pc) {
  thread.library_depth = 0;
  heddle_thread_state.thread = is_parallel ? &thread : nullptr;
  begin_atomic(count);
  end_atomic(count, sizeof(void*), kAtomicRead | (writes ? kAtomicWrite : 0),
             kAcquires | (writes ? kReleases : 0), nullptr, pc);
  thread.library_depth = 1;
  heddle_thread_state.thread = nullptr;
}

}  // namespace

void begin_block(const HeddleBlock* block, const void* object, uint64_t stack, const void* pc) {
  const Inside inside;
  Thread* const thread = this_thread;
  if (thread == nullptr) return;
  // Blocks that a longjmp has left.
  while (!thread->blocks.empty() && thread->blocks.inner().stack < stack) leave_inner(*thread, pc);
  if (channel == nullptr || heddle_thread_state.thread == nullptr)
    return thread->blocks.push(block, stack, object, pc, 0, State::kUntold, OpenBlocks::Open::kNoStretch);
  const bool is_outermost = !thread->blocks.any_matters();
  if (is_outermost && thread->has_given()) forget_given(*thread);
  if (block->kind == kHeddleDeterministic && is_calm()) end_calm(*thread);
  // Of a calm thread no accesses are told, so that there is nothing to tell apart.
  const bool needs_stretch = begins_stretch(is_outermost) && !is_calm();
  const uint32_t context = context_of(heddle_thread_state.frame);
  const uint64_t breaks = needs_stretch ? thread->breaks : OpenBlocks::Open::kNoStretch;
  change_blocks(*thread,
                [&] { thread->blocks.push(block, stack, object, pc, context, State::kPending, breaks); });
  if (needs_stretch) heddle_thread_state.stamp = heddle_thread_state.group = kNoStamp;
}

HEDDLE_INTERPOSE void heddle_begin_object(const void* object, uint64_t size) {
  // Of other memory it is known when it is given back.
  constexpr uint64_t kMostStack = uint64_t{1} << 26;
  const auto stack = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (reinterpret_cast<uint64_t>(object) - stack >= kMostStack || this_thread == nullptr) return;
  const Inside inside;
  forget_locks(object, size);
  forget_syncs(object, size);
  tell(*this_thread, {.operation = kToldFree, .address = object, .name = size});
}

HEDDLE_INTERPOSE void heddle_begin_block(const HeddleBlock* block, const void* object) {
  // Who only looks for races asks nobody which block they are in; what was open is left as it is.
  if (const Channel* const to = channel; to != nullptr && to->is_quiet.load(std::memory_order_relaxed) != 0)
    return;
  begin_block(block, object, reinterpret_cast<uint64_t>(__builtin_frame_address(0)),
              __builtin_return_address(0));
}

void end_block(const HeddleBlock* block, const void* pc) {
  const Inside inside;
  Thread* const thread = this_thread;
  if (thread == nullptr || thread->blocks.empty()) return;
  if (thread->blocks.inner().block != block) {
    if (!thread->blocks.contains(block)) return;
    while (thread->blocks.inner().block != block) leave_inner(*thread, pc);
  }
  leave_inner(*thread, pc);
}

HEDDLE_INTERPOSE void heddle_end_block(const HeddleBlock* block) {
  if (this_thread == nullptr || this_thread->blocks.empty()) return;
  end_block(block, __builtin_return_address(0));
}

uint32_t leave_atomic_blocks(Thread& thread, const void* pc, bool only_by_default) {
  tell_pending(thread);
  const uint32_t left = thread.blocks.inner_atomic(only_by_default);
  for (uint32_t inner = 0; inner < left; ++inner) {
    OpenBlocks::Open open;
    change_blocks(thread, [&] { open = thread.blocks.leave(inner); });
    tell_unordered(thread, end_of(open, pc));
  }
  if (left > 0) thread.new_stretch();
  if (!thread.blocks.any_matters()) forget_given(thread);
  return left;
}

// A calm thread that has told nothing of its blocks need only forget what it gave. False: it has.
static bool leaves_untold_blocks(Thread& thread) {
  if (!is_calm() || !thread.blocks.is_none_told()) return false;
  forget_given(thread);
  return thread.blocks.is_none_told();  // and nobody has told of them meanwhile (runtime/spans.h)
}

uint32_t leave_atomic_blocks_to_wait(Thread& thread, const void* pc) {
  return leaves_untold_blocks(thread) ? 0 : leave_atomic_blocks(thread, pc);
}

void enter_atomic_blocks_again(Thread& thread, uint32_t left, const void* pc) {
  for (uint32_t inner = left; inner > 0; --inner) {
    OpenBlocks::Open open;
    change_blocks(thread, [&] { open = thread.blocks.enter_again(inner - 1); });
    tell_unordered(thread, begin_of(open, pc));
  }
  if (left > 0) forget_given(thread);
}

void tell_untold_blocks(Thread& thread, const void* pc) {
  thread.blocks.tell_untold([&](const OpenBlocks::Open& open) {
    if (begins_stretch(!thread.blocks.any_matters())) thread.new_stretch();
    tell_unordered(thread, begin_of(open, pc));
  });
}

HEDDLE_INTERPOSE void heddle_enter_library(HeddleLibraryOperation operation, const void* object) {
  const Inside inside;
  Thread* const thread = this_thread;
  if (thread == nullptr) return;
  const void* const pc = __builtin_return_address(0);
  if (operation == kHeddleBarrierCompletion) return enter_completion(*thread, object, pc);
  if (operation == kHeddleDisposal) return enter_disposal(*thread, object, pc);
  if (operation == kHeddleLockTogether) {
    if (thread->locks_together++ == 0) thread->taken_together = 0;
    return;
  }
  if (ends_pointer_operation(operation)) {
    if (thread->library_depth == 1) access_pointer(*thread, object, operation == kHeddlePointerUpdate, pc);
    return;
  }
  if (thread->library_depth++ > 0) return;
  heddle_thread_state.thread = nullptr;  // until the operation is over
  switch (operation) {
    case kHeddleBarrierArrive:
      releasing_shared(object);
      tell(Operation::kArrive, object, pc);
      break;
    case kHeddleBarrierArriveAndWait:
      thread->phase = arriving(object);
      tell(Operation::kArrive, object, pc);
      tell_waiting(kForBarrier, object, pc);
      break;
    case kHeddleLatchArriveAndWait:
      releasing_shared(object);
      tell(Operation::kPost, object, pc);
      tell_waiting(kForLatch, object, pc);
      break;
    case kHeddleLatchCountDown:
    case kHeddleSemaphoreRelease:
      releasing_shared(object);
      tell(Operation::kPost, object, pc);
      break;
    case kHeddleFutureSet:
      releasing_shared(object);
      tell_handed_over(object, pc);
      break;
    case kHeddleReferenceCount:
    case kHeddleReferenceCopy:
    case kHeddleReferenceDrop:
    case kHeddleReferenceLock:
    case kHeddleReferenceLook:
    case kHeddleReferenceEnded:
      object = counts_of(operation, object);
      if (object == nullptr) break;
      counting(object);
      tell_sync(object, pc);
      begin_count(operation, object);
      break;
    case kHeddleLatchWait: tell_waiting(kForLatch, object, pc); break;
    case kHeddleSemaphoreAcquire: tell_waiting(kForSemaphore, object, pc); break;
    case kHeddleFutureWait: tell_waiting(kForFuture, object, pc); break;
    case kHeddleBarrierWait: tell_waiting(kForBarrier, object, pc); break;
    case kHeddleConditionWait:
      thread->left_blocks = leave_atomic_blocks(*thread, pc);
      tell_waiting(kForCondition, object, pc);
      break;
    case kHeddleConditionNotify: tell_notified(object, pc); break;
    case kHeddleConditionMutex:
    case kHeddleLatchTry:
    case kHeddleSemaphoreTry:
    case kHeddleFutureTry:
    case kHeddlePointerLock:
    case kHeddlePointerRead:
    case kHeddlePointerUpdate:
    case kHeddlePointerWait:
    case kHeddleBarrierCompletion:
    case kHeddleReferenceAgain:
    case kHeddleLockTogether:
    case kHeddleDisposal: break;
  }
}

HEDDLE_INTERPOSE void heddle_leave_library(HeddleLibraryOperation operation, const void* object,
                                           uint32_t succeeded) {
  const Inside inside;
  Thread* const thread = this_thread;
  if (thread == nullptr) return;
  const void* const pc = __builtin_return_address(0);
  if (operation == kHeddleBarrierCompletion) return leave_completion(*thread, object, pc);
  if (operation == kHeddleDisposal) return leave_disposal(*thread, pc);
  if (operation == kHeddleLockTogether) {
    thread->locks_together -= thread->locks_together > 0 ? 1 : 0;
    return;
  }
  if (operation == kHeddlePointerWait && thread->library_depth == 1)
    access_pointer(*thread, object, /*writes=*/false, pc);  // what ended the wait
  if (--thread->library_depth > 0) return;
  heddle_thread_state.thread = is_parallel ? thread : nullptr;
  end_count(operation, succeeded != 0, pc);
  if (succeeded == 0) return;
  switch (operation) {
    case kHeddleBarrierWait:
    case kHeddleBarrierArriveAndWait:
      leaving(std::exchange(thread->phase, nullptr));
      // Those who came without waiting, and the completion function.
      if (const bool has_completion = sync_at(object).has_completion; has_completion) {
        ordered_after(object);
        tell(Operation::kLeave, object, pc);
        tell_waited(object, pc);
      } else {
        acquired(object);
        tell(Operation::kLeave, object, pc);
      }
      break;
    case kHeddleLatchWait:
    case kHeddleLatchTry:
    case kHeddleLatchArriveAndWait:
    case kHeddleSemaphoreAcquire:
    case kHeddleSemaphoreTry:
      acquired(object);
      tell(Operation::kWait, object, pc);
      break;
    case kHeddleFutureWait:
    case kHeddleFutureTry:
      ordered_after(object);
      tell_waited(object, pc);
      break;
    case kHeddleReferenceCount:
    case kHeddleReferenceCopy:
    case kHeddleReferenceDrop:
    case kHeddleReferenceLock:
      ordered_after(object);
      tell_sync(object, pc);
      break;
    case kHeddleConditionWait:
      enter_atomic_blocks_again(*thread, thread->left_blocks, pc);
      tell(Operation::kWake, object, pc);
      break;
    case kHeddleConditionMutex:
    case kHeddleConditionNotify:
    case kHeddleBarrierArrive:
    case kHeddleLatchCountDown:
    case kHeddleSemaphoreRelease:
    case kHeddleFutureSet:
    case kHeddlePointerLock:
    case kHeddlePointerRead:
    case kHeddlePointerUpdate:
    case kHeddlePointerWait:
    case kHeddleBarrierCompletion:
    case kHeddleReferenceLook:
    case kHeddleReferenceEnded:
    case kHeddleReferenceAgain:
    case kHeddleLockTogether:
    case kHeddleDisposal: break;
  }
}

HEDDLE_INTERPOSE void heddle_set_at_thread_end(const void* status) {
  if (is_acting()) publish_at_thread_end(status, __builtin_return_address(0));
}

HEDDLE_INTERPOSE void heddle_begin_condition_loop() {
  const Inside inside;
  if (!is_acting()) return;
  if (leaves_untold_blocks(*this_thread) || !this_thread->blocks.is_in_told_atomic()) return;
  const void* const pc = __builtin_return_address(0);
  enter_atomic_blocks_again(*this_thread, leave_atomic_blocks(*this_thread, pc), pc);
}

}  // namespace heddle::runtime
