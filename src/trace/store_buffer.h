// What an operation does to its thread's store buffer: the one place that says so.
//
// The machine is x86-64 (TSO): a store goes into a first-in-first-out buffer of its thread and reaches memory
// later; a load is served by the youngest store of the same variable in its own thread's buffer, else by
// memory. A locked instruction and mfence wait until the buffer is empty. C++ operations compile to:
//
//   mov (buffered)    plain writes; atomic stores that are not seq_cst
//   mov (load)        plain reads; atomic loads of every order, seq_cst too
//   xchg, lock …      seq_cst stores; read-modify-writes of every order; compare-exchanges, failed ones too
//   mfence            fence(seq_cst); weaker fences are no instruction at all
//   lock …            taking and giving back a lock, in every mode: glibc's and libstdc++'s locks change
//                     their word by a read-modify-write both times
//   system call       starting, joining, beginning and ending a thread
//   lock …            arriving at a barrier or latch, posting and waiting for a semaphore
//
// Not certain to wait, so taken as not waiting (what is reported then may be impossible where they do):
// leaving a barrier (a load of its phase), notify (glibc looks whether anybody waits and returns), wake (the
// lock operations around it do), sync (call_once and futures have a path that only loads), alloc and free.
#pragma once

#include "trace/event.h"

namespace heddle {

// A write that waits in the store buffer for its commit. Other writes reach memory at once.
constexpr bool is_buffered_write(const Event& event) {
  return event.operation == Operation::kWrite ||
         (event.operation == Operation::kAtomicWrite && event.order != MemoryOrder::kSeqCst);
}

// The store buffer of the event's thread is empty when this happens. (A join also finds the joined thread's
// buffer empty: its end drained it.)
constexpr bool drains_store_buffer(const Event& event) {
  switch (event.operation) {
    case Operation::kAtomicWrite:
    case Operation::kFence: return event.order == MemoryOrder::kSeqCst;
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail:
    case Operation::kAcquire:
    case Operation::kRelease:
    case Operation::kAcquireShared:
    case Operation::kReleaseShared:
    case Operation::kFork:
    case Operation::kJoin:
    case Operation::kThreadBegin:
    case Operation::kThreadEnd:
    case Operation::kArrive:
    case Operation::kPost:
    case Operation::kWait: return true;
    case Operation::kRead:
    case Operation::kWrite:
    case Operation::kAtomicRead:
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic:
    case Operation::kEnd:
    case Operation::kLeave:
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kCommit:
    case Operation::kAlloc:
    case Operation::kFree:
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
    case Operation::kFocus:
    case Operation::kSync:
    case Operation::kNested: return false;
  }
  return false;
}

}  // namespace heddle
