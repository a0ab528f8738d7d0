#include "runtime/calm.h"

#include <atomic>
#include <utility>

#include "runtime/contexts.h"
#include "runtime/put.h"
#include "runtime/spans.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

constinit Givers givers[Givers::kParts];
constinit std::atomic<bool> has_calm_begun{false};

namespace {

std::atomic<uint32_t>& givers_like(const Thread& thread) {
  return givers[thread.serial % Givers::kParts].number;
}

uint32_t calm_now() {
  const Channel* const to = channel;
  return to == nullptr ? Channel::kNotCalmYet : to->calm.load(std::memory_order_relaxed);
}

// Whether it matters what blocks give first: the program is calm, or may become so.
bool are_gifts_followed() {
  const uint32_t calm = calm_now();
  return calm == Channel::kNotCalmYet || calm == Channel::kCalm;
}

// It does not tell something that orders it after others: nor then what it accesses from now on.
void leave_untold(Thread& thread) {
  thread.has_untold = true;
  thread.left_to_tell = 0;
}

// It must tell what it does, and tells what it has not told.
void stir(Thread& thread, const void* pc) {
  end_calm(thread);
  thread.has_untold = false;
  tell_known_spans(thread, pc);
}

// All that there is must be told.
void end_calm_if_any(Thread& thread, const void* pc) {
  if (is_calm()) stir(thread, pc);
}

void take(Thread& thread, const void* pc) {
  if (is_calm() && thread.giving.time != 0) stir(thread, pc);
  if (calm_now() == Channel::kCalmIsOver) tell_come_back(thread);
}

// That began before the calm, have used atomics and are open. The calm does not begin before they have ended:
// what they gave so is not remembered.
constinit std::atomic<uint32_t> blocks_with_atomics{0};

// An atomic operation both takes and gives, and what it saw may be thrown away (src/live/looks.h). So a block
// that does one is told as a whole.
void use_atomic(Thread& thread, const void* pc) {
  if (!thread.blocks.any_matters()) return take(thread, pc);
  end_calm_if_any(thread, pc);
  take(thread, pc);
  if (calm_now() == Channel::kCalmIsOver || thread.holds_off_calm) return;
  thread.holds_off_calm = true;
  blocks_with_atomics.fetch_add(1);
}

// Remembers it if it is the first that the block gives. False: the calm is over, so that there is no need.
bool give(Thread& thread, Operation operation, const void* object, const void* pc) {
  if (thread.giving.time != 0 || !thread.blocks.any_matters()) return true;
  // What others tell in its name comes after what it told itself.
  if (is_last_unordered(thread)) tell_as_it_is(thread, {.operation = kToldNothing, .context = 0});
  const uint32_t context = context_of(heddle_thread_state.frame);
  {
    const Locked locked(thread.giving_lock);
    // Looked at in here: who ends the calm looks at the thread after that.
    if (are_gifts_followed()) {
      thread.giving = {.time = thread.time - 1,
                       .blocks = thread.blocks.size(),
                       .operation = operation,
                       .object = object,
                       .pc = pc,
                       .context = context};
      givers_like(thread).fetch_add(1, std::memory_order_relaxed);
      return true;
    }
  }
  // What is told of it comes after what is told of the end.
  if (calm_now() != Channel::kCalmIsOver) stir(thread, pc);
  return false;
}

}  // namespace

bool is_calm() {
  if (calm_now() != Channel::kCalm || blocks_with_atomics.load(std::memory_order_relaxed) != 0) return false;
  if (has_calm_begun.load(std::memory_order_relaxed)) return true;
  // Either who ends it sees that it has begun, or it is seen here that it has ended.
  has_calm_begun.store(true);
  const Channel* const to = channel;
  return to != nullptr && to->calm.load() == Channel::kCalm;
}

void forget_given(Thread& thread) {
  if (std::exchange(thread.holds_off_calm, false)) blocks_with_atomics.fetch_sub(1);
  if (thread.giving.time == 0) return;
  const Locked locked(thread.giving_lock);
  end_span(thread);
  thread.giving = {};
  givers_like(thread).fetch_sub(1, std::memory_order_relaxed);
}

void follow(Thread& thread, uint8_t operation, const void* object, const void* pc) {
  // A thread begins before it does anything. What it knows then, its creator has told.
  if (operation == static_cast<uint8_t>(Operation::kThreadBegin)) return thread.held.meet();
  if (const uint32_t calm = calm_now(); calm == Channel::kCalmShouldEnd || calm == Channel::kCalmEnds ||
                                        (calm == Channel::kCalmIsOver && thread.has_untold)) {
    stir(thread, pc);
  } else if (calm == Channel::kCalmIsOver) {
    tell_known_spans(thread, pc);
  }
  if (operation >= kStoredOperations) return;
  switch (static_cast<Operation>(operation)) {
    case Operation::kAcquire:
    case Operation::kAcquireShared: take(thread, pc); break;
    case Operation::kRelease:
    case Operation::kReleaseShared: give(thread, static_cast<Operation>(operation), object, pc); break;
    case Operation::kLeave:
    case Operation::kWait:
    case Operation::kJoin:
      take(thread, pc);
      thread.held.meet();
      break;
    case Operation::kArrive:
    case Operation::kPost:
    case Operation::kFork:
      give(thread, static_cast<Operation>(operation), object, pc);
      thread.held.meet();
      break;
    case Operation::kThreadEnd:  // and its blocks with it
      forget_given(thread);
      thread.held.meet();
      break;
    case Operation::kAtomicRead:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail:
    case Operation::kSync: use_atomic(thread, pc); break;
    case Operation::kBeginDeterministic:
    case Operation::kTaskBegin:
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kCount:
    case Operation::kTake:
    case Operation::kDrop:
    case Operation::kAlive:
    case Operation::kFocus: end_calm_if_any(thread, pc); break;
    case Operation::kThreadBegin:
    case Operation::kFence:
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
}

bool keeps_outside_of_blocks(Thread& thread) {
  if (!is_calm() || thread.blocks.any_matters()) return false;
  leave_untold(thread);
  return true;
}

void tell_lock_taken(Operation operation, const void* lock, const void* pc, uint32_t extra,
                     uint32_t context) {
  if (!tells_order()) return;
  const Inside inside;
  Thread& thread = *this_thread;
  const bool is_shared = operation == Operation::kAcquireShared;
  HeldLock* const held = is_shared ? nullptr : thread.held.find(lock, false);
  // Else somebody has given it back for the thread, or it is another lock by now.
  const bool has_it = held != nullptr && depth_of(lock) > 1;
  if (held != nullptr && !has_it) thread.held.remove(held);
  if (context == Told::kNow) context = context_of(heddle_thread_state.frame);
  HeldLock taken = {lock, pc, operation, extra, context, 1, thread.blocks.size()};
  const auto may_be_untold = [&] {
    return is_calm() && thread.giving.time == 0 && (thread.held.empty() || !thread.held.is_new_order(taken));
  };
  const bool is_told = has_it ? held->is_told : !may_be_untold();
  if (!is_told && thread.has_told_waiting)
    tell_gave_up(lock, pc);  // the wait is over, and so is what to tell
  if (is_told)
    tell(thread, {.operation = static_cast<uint8_t>(operation),
                  .address = lock,
                  .pc = pc,
                  .extra = extra,
                  .context = context});
  if (has_it) {
    ++held->depth;
    return;
  }
  if (!is_told) leave_untold(thread);
  taken.is_told = is_told;
  thread.held.add(taken);
}

void tell_lock_given_back(Operation operation, const void* lock, const void* pc, bool is_others) {
  if (!tells_order()) return;
  const Inside inside;
  Thread& thread = *this_thread;
  HeldLock* const held = thread.held.find(lock, operation == Operation::kReleaseShared);
  if (held == nullptr) {
    // It was taken unseen, or by another thread: whose block it leaves then, nobody knows.
    if (is_others && is_calm()) tell_doubt(thread);
    return tell(operation, lock, pc);
  }
  const bool is_last = held->depth == 1;
  const bool stays_untold = !held->is_told && is_calm() && (!is_last || give(thread, operation, lock, pc));
  if (!stays_untold) tell(operation, lock, pc);
  if (is_last) {
    thread.held.remove(held);
  } else {
    --held->depth;
  }
}

}  // namespace heddle::runtime
