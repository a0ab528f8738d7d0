// Threads, for those who call them in the name of code at `pc`.
#pragma once

#include <pthread.h>

namespace heddle::runtime {

int create_thread(pthread_t* id, const pthread_attr_t* attributes, void* (*body)(void*), void* argument,
                  const void* pc);
int join_thread(pthread_t id, void** value, const void* pc);
int detach_thread(pthread_t id);

// What the calling thread does until its end, the destructors of its thread-local objects included, comes
// before what others do who learn from the object then.
void publish_at_thread_end(const void* object, const void* pc);

// In the child after a fork: there are no others.
void count_threads_anew();

}  // namespace heddle::runtime
