// What the compiler plug-in says about the program beyond its accesses: which function is a block that should
// be atomic or deterministic, and which one is an operation of the standard library that counts as a whole.
#pragma once

#include <cstdint>

extern "C" {

enum HeddleBlockKind : uint32_t { kHeddleAtomic = 0, kHeddleDeterministic = 1 };

// Why something is a block: reports and `heddle spec` say it.
enum HeddleBlockOrigin : uint32_t {
  kHeddleByDefault = 0,     // a public member function of a class that owns a mutex or an atomic
  kHeddleByAnnotation = 1,  // [[clang::annotate("heddle::atomic")]]
  kHeddleByScope = 2,       // HEDDLE_ATOMIC("name")
  kHeddleBySpec = 3,        // a pattern of the spec file
};

// One per block of the program, constant, in the section heddle_blocks.
struct HeddleBlock {
  const char* name;  // "Account::withdraw"
  HeddleBlockKind kind;
  HeddleBlockOrigin origin;
};

// `object` is what the function is a member of; null: of nothing.
void heddle_begin_block(const HeddleBlock* block, const void* object);
void heddle_end_block(const HeddleBlock* block);

// An object by which threads share, a lock or one of a monitor class, is about to be constructed. On a stack
// it may lie where another one lay: that one is over.
void heddle_begin_object(const void* object, uint64_t size);

// Operations of the standard library that are inlined into the program. Between enter and leave, accesses,
// atomics and locks of the thread are the library's own affair and make no events; the operation itself
// orders threads as the standard says. One inside another is part of the outer one.
enum HeddleLibraryOperation : uint32_t {
  kHeddleBarrierArrive = 0,         // barrier::arrive, arrive_and_drop
  kHeddleBarrierWait = 1,           // barrier::wait
  kHeddleBarrierArriveAndWait = 2,  // barrier::arrive_and_wait
  kHeddleLatchCountDown = 3,        // latch::count_down
  kHeddleLatchWait = 4,             // latch::wait
  kHeddleLatchArriveAndWait = 5,    // latch::arrive_and_wait
  kHeddleSemaphoreRelease = 6,      // counting_semaphore::release
  kHeddleSemaphoreAcquire = 7,      // counting_semaphore::acquire
  kHeddleReferenceCount = 8,        // shared_ptr's counts: each operation is ordered after all before it
  kHeddleFutureSet = 9,             // the shared state of a promise becomes ready
  kHeddleFutureWait = 10,           // somebody has seen that it is
  // The program's own completion function, called by the last to arrive at a barrier, inside an arrival:
  // between enter and leave the thread's doings are the program's again. All arrivals of the phase come
  // before enter; all who wait for the phase go on after leave.
  kHeddleBarrierCompletion = 11,
  // The same as the waits above, if they succeed; they do not wait, or not for ever.
  kHeddleLatchTry = 12,      // latch::try_wait
  kHeddleSemaphoreTry = 13,  // counting_semaphore::try_acquire and kin
  kHeddleFutureTry = 14,     // future::wait_for and kin
  // What condition_variable_any does with the mutex and the condition variable that it keeps.
  kHeddleConditionMutex = 15,
  kHeddleConditionWait = 16,
  kHeddleConditionNotify = 17,
  // std::atomic<std::shared_ptr> is locked by a bit of its count, which orders less than a lock does. From
  // the lock on (enter only) all is the library's own. Each of the others is what was done, and ends it: it
  // is entered while the bit is set, and left when it is not any more.
  kHeddlePointerLock = 18,
  kHeddlePointerRead = 19,    // the pointer was loaded, or compared and found to be another
  kHeddlePointerUpdate = 20,  // it was stored, exchanged, or compared and exchanged
  kHeddlePointerWait = 21,    // atomic::wait: it was loaded, until it was another one
  // The program's own code, run by whoever drops the last reference: who that is, the schedule decides. So it
  // is no part of the blocks that the thread is in, if others have counted, too.
  kHeddleDisposal = 22,
  // What of the counts is a value of the program's (runtime/reference_counts.h); ordered like
  // kHeddleReferenceCount.
  kHeddleReferenceCopy = 23,   // one more
  kHeddleReferenceDrop = 24,   // one less
  kHeddleReferenceLock = 25,   // weak_ptr::lock(): one more, if there was one
  kHeddleReferenceLook = 26,   // use_count()
  kHeddleReferenceEnded = 27,  // weak_ptr::expired(); the object is the weak_ptr
  kHeddleReferenceAgain = 28,  // the library asks whether kHeddleReferenceLock has succeeded: it knows
  // std::lock, and so std::scoped_lock: the locks are the program's own, but to wait for one of them the
  // thread gives back those that it has taken in here.
  kHeddleLockTogether = 29,
};
void heddle_enter_library(HeddleLibraryOperation operation, const void* object);
// `succeeded` is 0 when the operation orders nothing: a try that failed, use_count(), an exception.
void heddle_leave_library(HeddleLibraryOperation operation, const void* object, uint32_t succeeded);

// The shared state of a promise becomes ready when the thread ends; `status` is what kHeddleFutureWait names.
void heddle_set_at_thread_end(const void* status);
// Here begins a loop in which the thread waits for a condition until something holds. What comes before is
// judged apart from what comes then, whether the thread has to wait or not.
void heddle_begin_condition_loop();

}  // extern "C"
