#include "runtime/calm.h"

#include <atomic>
#include <utility>

#include "runtime/contexts.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

uint32_t calm_now() {
  const Channel* const to = channel;
  return to == nullptr ? Channel::kNotCalmYet : to->calm.load(std::memory_order_relaxed);
}

// How often something has ordered threads that makes no difference to the result of a block (kSync): what the
// clocks show of a block that gave something before is more than what matters to it.
constinit std::atomic<uint64_t> too_strict_orders{0};

// What the monitor cannot know of the block that the thread is in.
void tell_stirred(Thread& thread) {
  Giving& giving = thread.giving;
  thread.is_silent = false;
  uint32_t what = 0;
  const bool is_back =
      giving.time != 0 && giving.has_come_back() && giving.too_strict_orders == too_strict_orders.load();
  if (giving.time != 0) {
    what |= kHasGiven;
    const bool is_shared = giving.operation == Operation::kReleaseShared;
    if (is_shared || giving.operation == Operation::kRelease)
      what |= kGaveLock | (is_shared ? kGaveShared : 0);
    giving.is_told = giving.has_come_back() || giving.may_be_back;
    if (giving.is_told) what |= is_back ? kHasComeBack : kMayHaveComeBack;
  }
  tell(thread, {.operation = kToldStirred,
                .address = giving.object,
                .pc = giving.pc,
                .extra = what,
                .name = is_back ? threads_by_serial[giving.back_from + 1]->stream : 0,
                .context = giving.context});
}

void take(Thread& thread) {
  const Giving& giving = thread.giving;
  if (giving.time == 0) return;
  const uint32_t calm = calm_now();
  if (calm == Channel::kCalm) return end_calm(thread);
  const bool is_news = (giving.has_come_back() || giving.may_be_back) && !giving.is_told;
  if (calm == Channel::kCalmIsOver && giving.began_before_end_of_calm && is_news) tell_stirred(thread);
}

void give(Thread& thread, Operation operation, const void* object, const void* pc) {
  Giving& giving = thread.giving;
  if (giving.time != 0 || !thread.blocks.any_matters()) return;
  giving = {.time = thread.time - 1,
            .operation = operation,
            .object = object,
            .pc = pc,
            .context = context_of(heddle_thread_state.frame),
            .too_strict_orders = too_strict_orders.load(),
            .began_before_end_of_calm = calm_now() != Channel::kCalmIsOver};
}

// Nothing may stay untold that the clocks do not show, or of which they show too much.
void end_calm_if_any(Thread& thread) {
  if (is_calm()) end_calm(thread);
}

}  // namespace

bool is_calm() { return calm_now() == Channel::kCalm; }

void forget_given(Thread& thread) { thread.giving = {}; }

void end_calm(Thread& thread) {
  Channel* const to = channel;
  if (to == nullptr) return;
  uint32_t expected = Channel::kCalm;
  to->calm.compare_exchange_strong(expected, Channel::kCalmIsOver);
  tell_stirred(thread);
}

void follow(Thread& thread, uint8_t operation, const void* object, const void* pc) {
  if (operation >= kStoredOperations) return;
  switch (static_cast<Operation>(operation)) {
    case Operation::kAcquire:
    case Operation::kAcquireShared: take(thread); break;
    case Operation::kRelease:
    case Operation::kReleaseShared: give(thread, static_cast<Operation>(operation), object, pc); break;
    case Operation::kLeave:
    case Operation::kWait:
    case Operation::kThreadBegin:
    case Operation::kJoin:
      take(thread);
      thread.held.meet();
      break;
    case Operation::kArrive:
    case Operation::kPost:
    case Operation::kThreadEnd:
    case Operation::kFork:
      give(thread, static_cast<Operation>(operation), object, pc);
      thread.held.meet();
      break;
    case Operation::kAtomicRead:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail:
    case Operation::kFence:
    case Operation::kBeginDeterministic:
    case Operation::kTaskBegin:
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kFocus: end_calm_if_any(thread); break;
    case Operation::kSync:
      end_calm_if_any(thread);
      too_strict_orders.fetch_add(1);
      break;
    case Operation::kRead:
    case Operation::kWrite:
    case Operation::kBeginAtomic:
    case Operation::kEnd:
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kCommit:
    case Operation::kAlloc:
    case Operation::kFree:
    case Operation::kNested: break;
  }
  if (thread.is_silent && !is_calm()) tell_stirred(thread);
}

void tell_lock_taken(Operation operation, const void* lock, const void* pc, uint32_t extra,
                     uint32_t context) {
  if (!tells_order()) return;
  const Inside inside;
  if (context == Told::kNow) context = context_of(heddle_thread_state.frame);
  const Told told = {.operation = static_cast<uint8_t>(operation),
                     .address = lock,
                     .pc = pc,
                     .extra = extra,
                     .context = context};
  Thread& thread = *this_thread;
  const bool is_shared = operation == Operation::kAcquireShared;
  if (HeldLock* const held = thread.held.find(lock, is_shared); held != nullptr && !is_shared) {
    ++held->depth;
    if (held->is_told) tell(thread, told);
    return;
  }
  take(thread);
  HeldLock taken = {lock, pc, operation, extra, context, 1, thread.blocks.size(), false};
  const bool may_be_silent = is_calm() && !thread.has_told_waiting;
  if (may_be_silent && (thread.held.empty() || !thread.held.is_new_order(taken))) {
    thread.is_silent = true;
    return thread.held.add(taken);
  }
  tell(thread, told);
  taken.is_told = true;
  thread.held.add(taken);
}

void tell_lock_given_back(Operation operation, const void* lock, const void* pc) {
  if (!tells_order()) return;
  const Inside inside;
  Thread& thread = *this_thread;
  if (thread.is_silent && !is_calm()) tell_stirred(thread);  // and so the locks that it has
  HeldLock* const held = thread.held.find(lock, operation == Operation::kReleaseShared);
  if (held == nullptr) return tell(operation, lock, pc);  // it was taken by another thread, or unseen
  const bool is_told = held->is_told;
  if (--held->depth == 0) {
    give(thread, operation, lock, pc);
    if (!is_told) thread.giving.began_before_end_of_calm = true;
    thread.held.remove(held);
  }
  if (is_told) tell(operation, lock, pc);
}

}  // namespace heddle::runtime
