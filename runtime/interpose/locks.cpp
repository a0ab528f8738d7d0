// Mutexes, reader–writer locks, condition variables, semaphores and barriers of pthread. What std::mutex and
// its kin do ends here.
#include "runtime/interpose/locks.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <cerrno>
#include <cstdarg>

#include "runtime/calm.h"
#include "runtime/connection.h"
#include "runtime/early_locks.h"
#include "runtime/interpose/real.h"
#include "runtime/sync.h"
#include "runtime/system_code.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// A lock whose last holder died is held all the same.
bool is_held(int result) { return result == 0 || result == EOWNERDEAD; }

// The calling thread has taken the lock, or is about to give it back.
void tell_taken(Operation operation, const void* lock, const void* pc, uint32_t extra = 0) {
  if (is_before_monitor()) return remember_lock(operation, lock, pc, extra);
  tell_lock_taken(operation, lock, pc, extra);
}
void tell_given_back(Operation operation, const void* lock, const void* pc, bool is_others) {
  if (is_before_monitor()) return forget_lock(lock);
  tell_lock_given_back(operation, lock, pc, is_others);
}

// Of an operation that takes a lock.
enum class Waits : uint8_t { kForEver, kNotForEver };

// std::lock waits for one lock and tries the others. Where that fails it gives back what it has taken, and
// waits with what the thread held before.
uint32_t how_taken(Waits waits, const void* lock) {
  Thread& thread = *this_thread;
  if (thread.locks_together == 0) return waits == Waits::kForEver ? kWaits : kTries;
  const bool is_first = thread.taken_together == 0;
  if (depth_of(lock) <= 1) ++thread.taken_together;
  return is_first || waits == Waits::kForEver ? kWaits : kTogether;
}
void gives_back_together(const void* lock) {
  Thread& thread = *this_thread;
  if (thread.locks_together > 0 && thread.taken_together > 0 && depth_of(lock) <= 1) --thread.taken_together;
}

int got(int result, const void* lock, const void* pc, Waits waits = Waits::kForEver) {
  if (is_held(result) && is_acting() && !acquired_without_news(lock)) {
    acquired(lock);
    tell_taken(Operation::kAcquire, lock, pc, how_taken(waits, lock));
  }
  return result;
}
int got_shared(int result, const void* lock, const void* pc, Waits waits = Waits::kForEver) {
  if (is_held(result) && is_acting()) {
    acquired_shared(lock);
    tell_taken(Operation::kAcquireShared, lock, pc, how_taken(waits, lock));
  }
  return result;
}
int got_alone(int result, const void* lock, const void* pc, Waits waits = Waits::kForEver) {
  if (is_held(result) && is_acting()) {
    acquired_alone(lock);
    tell_taken(Operation::kAcquire, lock, pc, how_taken(waits, lock));
  }
  return result;
}
void giving_back(const void* lock, const void* pc) {
  if (!is_acting() || releasing_without_news(lock)) return;
  gives_back_together(lock);
  const bool is_others = releasing(lock, pc);
  tell_given_back(Operation::kRelease, lock, pc, is_others);
}

// Tries for about as long as it takes to fall asleep and be woken. What is checked holds its locks for longer
// than it would unchecked, most often for less than that, so that waiting awake is cheaper; and who goes to
// sleep makes the holder wake it.
// `may_be_free` only looks: to try takes the lock's memory, and what lies beside it, away from the holder.
template <class Try, class MayBeFree>
int try_for_a_moment(Try try_lock, MayBeFree may_be_free) {
  constexpr int kTries = 200;
  int result = try_lock();
  for (int tries = 1; result == EBUSY && tries < kTries; ++tries) {
    __builtin_ia32_pause();
    if (may_be_free()) result = try_lock();
  }
  return result;
}

// A lock that is still held then has, most often, a holder that another thread keeps from running. To wait
// for it in glibc costs a reader-writer lock's next writer the rest of its time slice, awake, if the holder
// was stopped in the middle of taking it; so the holder gets the processor first.
template <class Try>
int try_while_yielding(Try try_lock) {
  constexpr int kYields = 8;
  int result = EBUSY;
  for (int yields = 0; result == EBUSY && yields < kYields; ++yields) {
    ::sched_yield();
    result = try_lock();
  }
  return result;
}

// Waiting until then: the lock is refused, as an error-checking mutex is to who has it, or it takes time. A
// call of the system may also say that there never was such a time.
constexpr timespec kLongAgo = {-1, 0};
bool has_to_wait(int result) { return result == EBUSY || result == ETIMEDOUT || result == EINVAL; }

// Takes the lock at once or says that it has to wait: a deadlock is known while it lasts.
template <class Try, class MayBeFree, class AtOnce, class Lock>
int lock_telling(WaitsFor what, const void* lock, const void* pc, Try try_lock, MayBeFree may_be_free,
                 AtOnce lock_at_once, Lock wait_for_lock) {
  int result = try_for_a_moment(try_lock, may_be_free);
  if (result == EBUSY) result = lock_at_once();
  if (!has_to_wait(result)) return result;
  // The only thread waits for itself: that is worth a monitor.
  if (is_acting() && is_before_monitor() && holds_early_lock(lock)) connect_to_monitor();
  if (is_acting()) tell_waiting(what, lock, pc, 0, holder_of(lock));
  result = wait_for_lock();
  if (!is_held(result) && is_acting()) tell_gave_up(lock, pc);
  return result;
}

void forget_object(const void* object) {
  forget_sync(object);
  forget_locks(object, 1);
  if (is_acting()) tell(*this_thread, {.operation = kToldFree, .address = object, .name = 1});
}
int destroyed(int result, const void* object) {
  if (result == 0) forget_object(object);
  return result;
}

// The wait gives the mutex back and takes it again, whether or not it is woken; also when it is cancelled, in
// front of the cleanup handlers.
template <class Wait>
int wait_with(pthread_cond_t* condition, pthread_mutex_t* mutex, const void* pc, Wait wait) {
  struct Wake {
    pthread_cond_t* condition;
    pthread_mutex_t* mutex;
    const void* pc;
    uint32_t left;  // blocks
    ~Wake() {
      if (!is_acting()) return;
      enter_atomic_blocks_again(*this_thread, left, pc);
      got(0, mutex, pc);
      tell_woken(condition, pc);
    }
  };
  if (is_acting()) pc = outside_system_code(pc);
  giving_back(mutex, pc);
  const Wake wake = {condition, mutex, pc, is_acting() ? leave_atomic_blocks_to_wait(*this_thread, pc) : 0};
  if (is_acting()) tell_waiting(kForCondition, condition, pc);
  return wait();
}

void notifying(const void* condition, const void* pc) {
  if (is_acting()) tell_notified(condition, pc);
}

int got_post(int result, const void* semaphore, const void* pc) {
  if (result == 0 && is_acting()) {
    acquired(semaphore);
    tell(Operation::kWait, semaphore, pc);
  }
  return result;
}
template <class Wait>
int wait_for_post(sem_t* semaphore, const void* pc, Wait wait) {
  ::pthread_testcancel();  // also where there is nothing to wait for
  const int error = errno;
  if (REAL(sem_trywait)(semaphore) == 0) return got_post(0, semaphore, pc);
  errno = error;
  if (is_acting()) tell_waiting(kForSemaphore, semaphore, pc);
  const int result = wait();
  if (result != 0 && is_acting()) {
    const int reason = errno;
    tell_gave_up(semaphore, pc);
    errno = reason;
  }
  return got_post(result, semaphore, pc);
}

}  // namespace

int lock(pthread_mutex_t* mutex, const void* pc) {
  const int result = lock_telling(
      kForLock, mutex, pc, [&] { return REAL(pthread_mutex_trylock)(mutex); },
      [&] { return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) == 0; },
      [&] { return REAL(pthread_mutex_timedlock)(mutex, &kLongAgo); },
      [&] { return REAL(pthread_mutex_lock)(mutex); });
  return got(result, mutex, pc);
}
int try_lock(pthread_mutex_t* mutex, const void* pc) {
  return got(REAL(pthread_mutex_trylock)(mutex), mutex, pc, Waits::kNotForEver);
}
int lock_until(pthread_mutex_t* mutex, const timespec* until, const void* pc) {
  return got(REAL(pthread_mutex_timedlock)(mutex, until), mutex, pc, Waits::kNotForEver);
}
int unlock(pthread_mutex_t* mutex, const void* pc) {
  giving_back(mutex, pc);
  return REAL(pthread_mutex_unlock)(mutex);
}
int wait(pthread_cond_t* condition, pthread_mutex_t* mutex, const void* pc) {
  return wait_with(condition, mutex, pc, [&] { return REAL(pthread_cond_wait)(condition, mutex); });
}
int wait_until(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until, const void* pc) {
  return wait_with(condition, mutex, pc,
                   [&] { return REAL(pthread_cond_timedwait)(condition, mutex, until); });
}
int notify_one(pthread_cond_t* condition, const void* pc) {
  notifying(condition, pc);
  return REAL(pthread_cond_signal)(condition);
}
int notify_all(pthread_cond_t* condition, const void* pc) {
  notifying(condition, pc);
  return REAL(pthread_cond_broadcast)(condition);
}
int destroy_mutex(pthread_mutex_t* mutex) { return destroyed(REAL(pthread_mutex_destroy)(mutex), mutex); }

HEDDLE_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) { return lock(mutex, HEDDLE_HERE); }
HEDDLE_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* mutex) { return try_lock(mutex, HEDDLE_HERE); }
HEDDLE_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  return lock_until(mutex, until, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  return got(REAL(pthread_mutex_clocklock)(mutex, clock, until), mutex, HEDDLE_HERE, Waits::kNotForEver);
}
HEDDLE_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) { return unlock(mutex, HEDDLE_HERE); }

HEDDLE_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  const auto try_lock = [&] { return REAL(pthread_rwlock_tryrdlock)(lock); };
  const int result = lock_telling(
      kForSharedLock, lock, HEDDLE_HERE, try_lock, [] { return true; },
      [&] {
        const int result = try_while_yielding(try_lock);
        return result == EBUSY ? REAL(pthread_rwlock_timedrdlock)(lock, &kLongAgo) : result;
      },
      [&] { return REAL(pthread_rwlock_rdlock)(lock); });
  return got_shared(result, lock, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  return got_shared(REAL(pthread_rwlock_tryrdlock)(lock), lock, HEDDLE_HERE, Waits::kNotForEver);
}
HEDDLE_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  return got_shared(REAL(pthread_rwlock_timedrdlock)(lock, until), lock, HEDDLE_HERE, Waits::kNotForEver);
}
HEDDLE_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* until) {
  return got_shared(REAL(pthread_rwlock_clockrdlock)(lock, clock, until), lock, HEDDLE_HERE,
                    Waits::kNotForEver);
}
HEDDLE_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  const auto try_lock = [&] { return REAL(pthread_rwlock_trywrlock)(lock); };
  const int result = lock_telling(
      kForLock, lock, HEDDLE_HERE, try_lock, [] { return true; },
      [&] {
        const int result = try_while_yielding(try_lock);
        return result == EBUSY ? REAL(pthread_rwlock_timedwrlock)(lock, &kLongAgo) : result;
      },
      [&] { return REAL(pthread_rwlock_wrlock)(lock); });
  return got_alone(result, lock, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  return got_alone(REAL(pthread_rwlock_trywrlock)(lock), lock, HEDDLE_HERE, Waits::kNotForEver);
}
HEDDLE_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  return got_alone(REAL(pthread_rwlock_timedwrlock)(lock, until), lock, HEDDLE_HERE, Waits::kNotForEver);
}
HEDDLE_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* until) {
  return got_alone(REAL(pthread_rwlock_clockwrlock)(lock, clock, until), lock, HEDDLE_HERE,
                   Waits::kNotForEver);
}
HEDDLE_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  if (is_acting()) {
    gives_back_together(lock);
    const auto [was_alone, is_others] = releasing_alone_or_shared(lock, HEDDLE_HERE);
    tell_given_back(was_alone ? Operation::kRelease : Operation::kReleaseShared, lock, HEDDLE_HERE,
                    is_others);
  }
  return REAL(pthread_rwlock_unlock)(lock);
}

HEDDLE_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) {
  const void* const object = const_cast<const int*>(lock);
  const int result = lock_telling(
      kForLock, object, HEDDLE_HERE, [&] { return REAL(pthread_spin_trylock)(lock); }, [] { return true; },
      [] { return EBUSY; }, [&] { return REAL(pthread_spin_lock)(lock); });
  return got(result, object, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) {
  return got(REAL(pthread_spin_trylock)(lock), const_cast<const int*>(lock), HEDDLE_HERE, Waits::kNotForEver);
}
HEDDLE_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) {
  giving_back(const_cast<const int*>(lock), HEDDLE_HERE);
  return REAL(pthread_spin_unlock)(lock);
}

HEDDLE_INTERPOSE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait(condition, mutex, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                            const timespec* until) {
  return wait_until(condition, mutex, until, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                            clockid_t clock, const timespec* until) {
  return wait_with(condition, mutex, HEDDLE_HERE,
                   [&] { return REAL(pthread_cond_clockwait)(condition, mutex, clock, until); });
}
HEDDLE_INTERPOSE int pthread_cond_signal(pthread_cond_t* condition) {
  return notify_one(condition, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* condition) {
  return notify_all(condition, HEDDLE_HERE);
}

HEDDLE_INTERPOSE int sem_post(sem_t* semaphore) {
  if (is_acting()) {
    releasing_shared(semaphore);
    tell(Operation::kPost, semaphore, HEDDLE_HERE);
  }
  return REAL(sem_post)(semaphore);
}
HEDDLE_INTERPOSE int sem_wait(sem_t* semaphore) {
  return wait_for_post(semaphore, HEDDLE_HERE, [&] { return REAL(sem_wait)(semaphore); });
}
HEDDLE_INTERPOSE int sem_trywait(sem_t* semaphore) {
  return got_post(REAL(sem_trywait)(semaphore), semaphore, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int sem_timedwait(sem_t* semaphore, const timespec* until) {
  return wait_for_post(semaphore, HEDDLE_HERE, [&] { return REAL(sem_timedwait)(semaphore, until); });
}
HEDDLE_INTERPOSE int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  return wait_for_post(semaphore, HEDDLE_HERE, [&] { return REAL(sem_clockwait)(semaphore, clock, until); });
}

// Whoever opens a semaphore of the same name gets the same address, until all have closed it.
HEDDLE_INTERPOSE sem_t* sem_open(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  const auto value = (flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  sem_t* const semaphore = REAL(sem_open)(name, flags, mode, value);
  if (semaphore != SEM_FAILED) opened(semaphore);
  return semaphore;
}
HEDDLE_INTERPOSE int sem_close(sem_t* semaphore) {
  if (closing(semaphore)) forget_object(semaphore);
  return REAL(sem_close)(semaphore);
}

HEDDLE_INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) {
  const bool acts = is_acting();
  BarrierPhase* const phase = acts ? arriving(barrier) : nullptr;
  if (acts) {
    tell(Operation::kArrive, barrier, HEDDLE_HERE);
    tell_waiting(kForBarrier, barrier, HEDDLE_HERE);
  }
  const int result = REAL(pthread_barrier_wait)(barrier);
  if (acts) {
    leaving(phase);
    tell(Operation::kLeave, barrier, HEDDLE_HERE);
  }
  return result;
}

HEDDLE_INTERPOSE int pthread_mutex_destroy(pthread_mutex_t* mutex) { return destroy_mutex(mutex); }
HEDDLE_INTERPOSE int pthread_rwlock_destroy(pthread_rwlock_t* lock) {
  return destroyed(REAL(pthread_rwlock_destroy)(lock), lock);
}
HEDDLE_INTERPOSE int pthread_spin_destroy(pthread_spinlock_t* lock) {
  return destroyed(REAL(pthread_spin_destroy)(lock), const_cast<const int*>(lock));
}
HEDDLE_INTERPOSE int sem_destroy(sem_t* semaphore) {
  return destroyed(REAL(sem_destroy)(semaphore), semaphore);
}
HEDDLE_INTERPOSE int pthread_barrier_destroy(pthread_barrier_t* barrier) {
  return destroyed(REAL(pthread_barrier_destroy)(barrier), barrier);
}

}  // namespace heddle::runtime
