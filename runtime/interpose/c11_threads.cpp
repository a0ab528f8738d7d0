// Threads, mutexes and conditions of C11. The system's own call pthread inside the C library, where we do not
// see it; these call ours. The objects are those of pthread.
#include <pthread.h>
#include <threads.h>

#include <cerrno>

#include "runtime/interpose/locks.h"
#include "runtime/interpose/real.h"
#include "runtime/interpose/threads.h"
#include "runtime/memory.h"

namespace heddle::runtime {

namespace {

static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) && sizeof(cnd_t) >= sizeof(pthread_cond_t));
pthread_mutex_t* real(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* real(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int in_c11(int result) {
  switch (result) {
    case 0: return thrd_success;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    case EBUSY: return thrd_busy;
    default: return thrd_error;
  }
}

void* as_pointer(int value) { return reinterpret_cast<void*>(static_cast<intptr_t>(value)); }

struct Body {
  thrd_start_t function;
  void* argument;
};
void* run(void* given) {
  auto* const body = static_cast<Body*>(given);
  const Body copy = *body;
  destroy(body);
  return as_pointer(copy.function(copy.argument));
}

}  // namespace

HEDDLE_INTERPOSE int thrd_create(thrd_t* id, thrd_start_t function, void* argument) {
  auto* const body = create<Body>(function, argument);
  const int result = create_thread(id, nullptr, run, body, HEDDLE_HERE);
  if (result != 0) destroy(body);
  return result == EAGAIN ? thrd_nomem : in_c11(result);
}
HEDDLE_INTERPOSE int thrd_join(thrd_t id, int* value) {
  void* returned = nullptr;
  const int result = join_thread(id, &returned, HEDDLE_HERE);
  if (result == 0 && value != nullptr) *value = static_cast<int>(reinterpret_cast<intptr_t>(returned));
  return in_c11(result);
}
HEDDLE_INTERPOSE int thrd_detach(thrd_t id) { return in_c11(detach_thread(id)); }
HEDDLE_INTERPOSE void thrd_exit(int value) { ::pthread_exit(as_pointer(value)); }

HEDDLE_INTERPOSE int mtx_lock(mtx_t* mutex) { return in_c11(lock(real(mutex), HEDDLE_HERE)); }
HEDDLE_INTERPOSE int mtx_trylock(mtx_t* mutex) { return in_c11(try_lock(real(mutex), HEDDLE_HERE)); }
HEDDLE_INTERPOSE int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  return in_c11(lock_until(real(mutex), until, HEDDLE_HERE));
}
HEDDLE_INTERPOSE int mtx_unlock(mtx_t* mutex) { return in_c11(unlock(real(mutex), HEDDLE_HERE)); }
HEDDLE_INTERPOSE void mtx_destroy(mtx_t* mutex) { destroy_mutex(real(mutex)); }

HEDDLE_INTERPOSE int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return in_c11(wait(real(condition), real(mutex), HEDDLE_HERE));
}
HEDDLE_INTERPOSE int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return in_c11(wait_until(real(condition), real(mutex), until, HEDDLE_HERE));
}
HEDDLE_INTERPOSE int cnd_signal(cnd_t* condition) { return in_c11(notify_one(real(condition), HEDDLE_HERE)); }
HEDDLE_INTERPOSE int cnd_broadcast(cnd_t* condition) {
  return in_c11(notify_all(real(condition), HEDDLE_HERE));
}

HEDDLE_INTERPOSE void call_once(once_flag* flag, void (*routine)()) {
  call_once(reinterpret_cast<pthread_once_t*>(flag), routine, HEDDLE_HERE);
}

}  // namespace heddle::runtime
