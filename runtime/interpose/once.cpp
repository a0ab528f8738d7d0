// What is done once, by whoever comes first: pthread_once (std::call_once), and local static variables.
//
// All others come after it, and not after each other. That is no conflict of atomic blocks: who came first
// makes no difference to anybody.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

#include "runtime/interpose/locks.h"
#include "runtime/interpose/real.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

void publish(const void* object, const void* pc) {
  if (!is_acting()) return;
  releasing_shared(object);
  tell_handed_over(object, pc);
}
void learn(const void* object, const void* pc) {
  if (is_acting() && ordered_after(object)) tell_waited(object, pc);
}

// What pthread_once is about to run.
struct Routine {
  void (*body)();
  const void* control;
  const void* pc;
};
__thread Routine next_routine;

// After all who tried before and threw.
void run_routine() {
  struct Run {
    Routine routine;
    ~Run() { publish(routine.control, routine.pc); }
  };
  const Run run = {next_routine};  // which may call pthread_once itself
  learn(run.routine.control, run.routine.pc);
  run.routine.body();
}

}  // namespace

int call_once(pthread_once_t* control, void (*routine)(), const void* pc) {
  next_routine = {routine, control, pc};
  const int result = REAL(pthread_once)(control, run_routine);
  if (result == 0) learn(control, pc);
  return result;
}

HEDDLE_INTERPOSE int pthread_once(pthread_once_t* control, void (*routine)()) {
  return call_once(control, routine, HEDDLE_HERE);
}

// The guard of a local variable, as the C++ ABI has it: its first byte says whether the variable is
// initialized, and the program looks at that itself before it calls us. The other bytes are ours. Not passed
// on: the program may have the library's functions linked into itself.
namespace {

using Guard = std::atomic<int32_t>;
constexpr int32_t kIsReady = 1;
constexpr int32_t kIsBusy = 1 << 8;      // somebody initializes the variable
constexpr int32_t kIsAwaited = 1 << 16;  // and others wait for that

Guard& state_of(int64_t* guard) { return *reinterpret_cast<Guard*>(guard); }

void set(Guard& guard, int32_t state) {
  if ((guard.exchange(state) & kIsAwaited) != 0)
    ::syscall(SYS_futex, &guard, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void mark_as_guard(const void* object) {
  if (this_thread == nullptr) return;
  const Inside inside;
  Sync& sync = lock_sync(object);
  sync.is_guard = true;
  sync.lock.unlock();
}

// True: the caller has to initialize the variable.
bool begin(Guard& guard) {
  for (;;) {
    int32_t state = 0;
    if (guard.compare_exchange_strong(state, kIsBusy)) return true;
    if (state == kIsReady) return false;
    if ((state & kIsAwaited) == 0 && !guard.compare_exchange_strong(state, state | kIsAwaited)) continue;
    ::syscall(SYS_futex, &guard, FUTEX_WAIT_PRIVATE, kIsBusy | kIsAwaited, nullptr, nullptr, 0);
  }
}

}  // namespace

HEDDLE_INTERPOSE int __cxa_guard_acquire(int64_t* guard) {
  const bool is_first = begin(state_of(guard));
  if (is_first) mark_as_guard(guard);
  learn(guard, HEDDLE_HERE);
  return is_first ? 1 : 0;
}
HEDDLE_INTERPOSE void __cxa_guard_release(int64_t* guard) {
  publish(guard, HEDDLE_HERE);
  set(state_of(guard), kIsReady);
}
// The initialization has thrown: the next who comes tries again.
HEDDLE_INTERPOSE void __cxa_guard_abort(int64_t* guard) {
  publish(guard, HEDDLE_HERE);
  set(state_of(guard), 0);
}

}  // namespace heddle::runtime
