// Mutexes and condition variables, for those who call them in the name of code at `pc`.
#pragma once

#include <pthread.h>

namespace heddle::runtime {

int lock(pthread_mutex_t* mutex, const void* pc);
int try_lock(pthread_mutex_t* mutex, const void* pc);
int lock_until(pthread_mutex_t* mutex, const timespec* until, const void* pc);
int unlock(pthread_mutex_t* mutex, const void* pc);
int destroy_mutex(pthread_mutex_t* mutex);

int wait(pthread_cond_t* condition, pthread_mutex_t* mutex, const void* pc);
int wait_until(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until, const void* pc);
int notify_one(pthread_cond_t* condition, const void* pc);
int notify_all(pthread_cond_t* condition, const void* pc);

int call_once(pthread_once_t* control, void (*routine)(), const void* pc);

}  // namespace heddle::runtime
