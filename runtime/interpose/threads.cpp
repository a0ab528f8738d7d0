// Threads of pthread: how they begin, end and are waited for.
#include <pthread.h>

#include <atomic>

#include "runtime/interpose/real.h"
#include "runtime/shadow.h"
#include "runtime/sync.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

constinit std::atomic<uint64_t> made{0};    // threads
constinit std::atomic<uint64_t> joined{0};  // of them, by somebody

struct Start {
  void* (*body)(void*);
  void* argument;
  Thread* thread;
  Published forked;
};

// Another thread may have had the same stack.
void forget_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* stack = nullptr;
  std::size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &stack, &size) == 0) forget(stack, size);
  ::pthread_attr_destroy(&attributes);
}

void* run_thread(void* given) {
  auto* const start = static_cast<Start*>(given);
  forget_stack();
  attach(start->thread);
  this_thread->acquire(start->forked);
  void* (*const body)(void*) = start->body;
  void* const argument = start->argument;
  destroy(start);
  void* const result = body(argument);
  releasing(reinterpret_cast<const void*>(::pthread_self()));
  detach();
  return result;
}

[[gnu::constructor(101)]] void begin() { attach_main_thread(); }

}  // namespace

HEDDLE_INTERPOSE int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*body)(void*),
                                    void* argument) {
  if (this_thread == nullptr) return REAL(pthread_create)(id, attributes, body, argument);
  auto* const start = create<Start>();
  start->body = body;
  start->argument = argument;
  start->thread = make_thread();
  start->forked = this_thread->publish();
  become_parallel();
  made.fetch_add(1);
  const int result = REAL(pthread_create)(id, attributes, run_thread, start);
  if (result != 0) {
    made.fetch_sub(1);
    destroy(start);
  }
  return result;
}

HEDDLE_INTERPOSE int pthread_join(pthread_t id, void** value) {
  const int result = REAL(pthread_join)(id, value);
  if (result != 0 || this_thread == nullptr) return result;
  acquired(reinterpret_cast<const void*>(id));
  // Nobody else is left, and all that was done is ordered before what is to come.
  if (joined.fetch_add(1) + 1 == made.load()) heddle_thread_state.thread = nullptr;
  return result;
}

}  // namespace heddle::runtime
