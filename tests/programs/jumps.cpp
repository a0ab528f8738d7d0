// Functions that are left without returning; the first argument names the case.
#include <pthread.h>
#include <setjmp.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "twins.h"

using schedule::at;

namespace {

alignas(64) volatile int64_t words[8];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
thread_local jmp_buf target;
thread_local sigjmp_buf signal_target;

[[gnu::noinline]] void go_deep(int depth, const std::function<void()>& at_the_end) {
  if (depth > 0) {
    go_deep(depth - 1, at_the_end);
  } else {
    at_the_end();
  }
  asm volatile("");  // no tail call
}
[[gnu::noinline]] void write(int word) {
  go_deep(3, [word] { words[word] = 1; });
}

void two(const std::function<void()>& first, const std::function<void()>& second) {
  std::thread a([&] { at(0, first); });
  std::thread b([&] { at(1, second); });
  a.join();
  b.join();
}

void jump() {
  for (volatile int i = 0; i < 100; i = i + 1) {
    if (::setjmp(target) == 0) go_deep(i, [] { ::longjmp(target, 1); });
    if (::sigsetjmp(signal_target, 1) == 0) go_deep(i, [] { ::siglongjmp(signal_target, 1); });
    if (::_setjmp(target) == 0) go_deep(i, [] { ::_longjmp(target, 1); });
    go_deep(5, [] {});
  }
}
void throw_through() {
  for (int i = 0; i < 100; ++i) {
    try {
      go_deep(i, [] { throw std::runtime_error("out"); });
    } catch (const std::runtime_error&) {
    }
    go_deep(5, [] {});
  }
}

// Gets out of pthread_cond_wait with the mutex.
void* wait_to_be_cancelled(void*) {
  ::pthread_mutex_lock(&mutex);
  pthread_cleanup_push(
      [](void*) {
        write(0);
        ::pthread_mutex_unlock(&mutex);
      },
      nullptr);
  schedule::end_turn();
  for (;;) ::pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
  return nullptr;
}

pthread_key_t key;
void* exit_deep_down(void* unlocked) {
  ::pthread_setspecific(key, unlocked);
  go_deep(20, [] { ::pthread_exit(nullptr); });
  return nullptr;
}
void exit_two_threads(void (*at_end)(void*)) {
  ::pthread_key_create(&key, at_end);
  pthread_t threads[2];
  for (pthread_t& thread : threads) ::pthread_create(&thread, nullptr, exit_deep_down, &key);
  for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
}

const twins::Cases kCases = {
    {"jumps", [] { two([] { jump(), write(0); }, [] { jump(), write(1); }); }},
    {"race_after_jumps", [] { two([] { jump(), write(0); }, [] { jump(), write(0); }); }},
    {"exceptions", [] { two([] { throw_through(), write(0); }, [] { throw_through(), write(1); }); }},
    {"race_after_exceptions",
     [] { two([] { throw_through(), write(0); }, [] { throw_through(), write(0); }); }},
    {"cancelled_in_a_wait",
     [] {
       pthread_t waiting;
       ::pthread_create(&waiting, nullptr, wait_to_be_cancelled, nullptr);
       schedule::wait_for(1);
       ::pthread_mutex_lock(&mutex);
       write(0);
       ::pthread_mutex_unlock(&mutex);
       ::pthread_cancel(waiting);
       ::pthread_join(waiting, nullptr);
       write(0);
     }},
    {"race_with_a_cancelled_one",
     [] {
       pthread_t waiting;
       ::pthread_create(&waiting, nullptr, wait_to_be_cancelled, nullptr);
       schedule::wait_for(1);
       ::pthread_mutex_lock(&mutex);
       ::pthread_mutex_unlock(&mutex);
       write(0);
       ::pthread_cancel(waiting);
       ::pthread_join(waiting, nullptr);
     }},
    {"destructors_after_exit",
     [] {
       exit_two_threads([](void*) {
         ::pthread_mutex_lock(&mutex);
         write(0);
         ::pthread_mutex_unlock(&mutex);
       });
     }},
    {"race_of_destructors", [] { exit_two_threads([](void*) { write(0); }); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
