// Mutexes, reader–writer locks and condition variables of pthread. What std::mutex and its kin do ends here.
#include <pthread.h>
#include <semaphore.h>

#include <cerrno>

#include "runtime/interpose/real.h"
#include "runtime/sync.h"

namespace heddle::runtime {

namespace {

// A lock whose last holder died is held all the same.
bool is_held(int result) { return result == 0 || result == EOWNERDEAD; }

int got(int result, const void* lock) {
  if (is_held(result)) acquired(lock);
  return result;
}
int got_shared(int result, const void* lock) {
  if (is_held(result)) acquired_shared(lock);
  return result;
}

int got_alone(int result, const void* lock) {
  if (is_held(result)) acquired_alone(lock);
  return result;
}

// The wait gives the mutex back and takes it again, whether or not it is woken.
template <class Wait>
int wait_with(pthread_mutex_t* mutex, Wait wait) {
  releasing(mutex);
  const int result = wait();
  acquired(mutex);
  return result;
}

}  // namespace

HEDDLE_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) {
  return got(REAL(pthread_mutex_lock)(mutex), mutex);
}
HEDDLE_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  return got(REAL(pthread_mutex_trylock)(mutex), mutex);
}
HEDDLE_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  return got(REAL(pthread_mutex_timedlock)(mutex, until), mutex);
}
HEDDLE_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  return got(REAL(pthread_mutex_clocklock)(mutex, clock, until), mutex);
}
HEDDLE_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  releasing(mutex);
  return REAL(pthread_mutex_unlock)(mutex);
}

HEDDLE_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  return got_shared(REAL(pthread_rwlock_rdlock)(lock), lock);
}
HEDDLE_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  return got_shared(REAL(pthread_rwlock_tryrdlock)(lock), lock);
}
HEDDLE_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  return got_shared(REAL(pthread_rwlock_timedrdlock)(lock, until), lock);
}
HEDDLE_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* until) {
  return got_shared(REAL(pthread_rwlock_clockrdlock)(lock, clock, until), lock);
}
HEDDLE_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  return got_alone(REAL(pthread_rwlock_wrlock)(lock), lock);
}
HEDDLE_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  return got_alone(REAL(pthread_rwlock_trywrlock)(lock), lock);
}
HEDDLE_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  return got_alone(REAL(pthread_rwlock_timedwrlock)(lock, until), lock);
}
HEDDLE_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* until) {
  return got_alone(REAL(pthread_rwlock_clockwrlock)(lock, clock, until), lock);
}
HEDDLE_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  releasing_alone_or_shared(lock);
  return REAL(pthread_rwlock_unlock)(lock);
}

HEDDLE_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) {
  return got(REAL(pthread_spin_lock)(lock), const_cast<const int*>(lock));
}
HEDDLE_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) {
  return got(REAL(pthread_spin_trylock)(lock), const_cast<const int*>(lock));
}
HEDDLE_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) {
  releasing(const_cast<const int*>(lock));
  return REAL(pthread_spin_unlock)(lock);
}

HEDDLE_INTERPOSE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_with(mutex, [&] { return REAL(pthread_cond_wait)(condition, mutex); });
}
HEDDLE_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                            const timespec* until) {
  return wait_with(mutex, [&] { return REAL(pthread_cond_timedwait)(condition, mutex, until); });
}
HEDDLE_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                            clockid_t clock, const timespec* until) {
  return wait_with(mutex, [&] { return REAL(pthread_cond_clockwait)(condition, mutex, clock, until); });
}

HEDDLE_INTERPOSE int sem_post(sem_t* semaphore) {
  releasing_shared(semaphore);
  return REAL(sem_post)(semaphore);
}
HEDDLE_INTERPOSE int sem_wait(sem_t* semaphore) { return got(REAL(sem_wait)(semaphore), semaphore); }
HEDDLE_INTERPOSE int sem_trywait(sem_t* semaphore) { return got(REAL(sem_trywait)(semaphore), semaphore); }
HEDDLE_INTERPOSE int sem_timedwait(sem_t* semaphore, const timespec* until) {
  return got(REAL(sem_timedwait)(semaphore, until), semaphore);
}
HEDDLE_INTERPOSE int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  return got(REAL(sem_clockwait)(semaphore, clock, until), semaphore);
}

HEDDLE_INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) {
  releasing_shared(barrier);
  const int result = REAL(pthread_barrier_wait)(barrier);
  acquired(barrier);
  return result;
}

}  // namespace heddle::runtime
