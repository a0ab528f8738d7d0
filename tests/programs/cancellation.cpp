// Threads end where they pass a cancellation point of the program, and nowhere else. The first argument names
// the case. A thread that cancels itself ends in the next one, so nothing here depends on who is faster.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "twins.h"

namespace {

void require(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(3);
}

void cancel_itself() { ::pthread_cancel(::pthread_self()); }
void refuse() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr); }

void* result_of(pthread_t thread) {
  void* result = nullptr;
  ::pthread_join(thread, &result);
  return result;
}
pthread_t begin(void* (*body)(void*), void* argument = nullptr) {
  pthread_t made;
  require(::pthread_create(&made, nullptr, body, argument) == 0, "a thread begins");
  return made;
}
char reached;  // what threads return that got to their end

// Cancelled before their first statement; they refuse that in it, or wait with a lock.
void early() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static int cleaned = 0;
  for (int i = 0; i < 100; ++i) {
    const pthread_t refusing = begin([](void*) -> void* {
      refuse();
      return &reached;
    });
    ::pthread_cancel(refusing);
    require(result_of(refusing) == &reached, "the first statement of a thread is run");
    const pthread_t waiting = begin([](void*) -> void* {
      ::pthread_mutex_lock(&mutex);
      pthread_cleanup_push(
          [](void*) {
            ++cleaned;
            ::pthread_mutex_unlock(&mutex);
          },
          nullptr);
      for (;;) ::pthread_cond_wait(&condition, &mutex);
      pthread_cleanup_pop(0);
    });
    ::pthread_cancel(waiting);
    require(result_of(waiting) == PTHREAD_CANCELED, "a wait ends");
    require(::pthread_mutex_trylock(&mutex) == 0, "the mutex is free after that");
    require(cleaned == i + 1, "its cleanup handler has run");
    ::pthread_mutex_unlock(&mutex);
  }
}

std::mutex mutex;
std::condition_variable condition;
std::map<int, int> numbers;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;

// Nothing in here is a cancellation point.
void work() {
  for (int i = 0; i < 20000; ++i) {
    const std::lock_guard guard(mutex);
    ++numbers[i % 100];
    condition.notify_all();
  }
  for (int i = 0; i < 2000; ++i) {
    ::pthread_rwlock_rdlock(&lock);
    ::pthread_rwlock_unlock(&lock);
    ::pthread_spin_lock(&spin);
    ::pthread_spin_unlock(&spin);
    const std::vector<int> made(100, i);
    require(made[50] == i, "memory is one's own");
    if (i % 500 == 0) ::pthread_detach(begin([](void*) -> void* { return nullptr; }));
  }
}

// Of threads that are at work when they are cancelled.
void late() {
  const auto body = [](void*) -> void* {
    cancel_itself();
    work();
    refuse();
    return &reached;
  };
  pthread_t threads[4];
  for (pthread_t& thread : threads) thread = begin(body);
  for (const pthread_t thread : threads) require(result_of(thread) == &reached, "work is done to its end");
  require(mutex.try_lock(), "the mutex is free");
  require(numbers[99] == 4 * 200, "all was counted");
  mutex.unlock();
}

// The main thread makes the first one, so it looks for the monitor.
void first() {
  cancel_itself();
  const pthread_t thread = begin([](void*) -> void* { return &reached; });
  refuse();
  require(result_of(thread) == &reached, "the first thread runs");
}

// Says that nothing is checked any more.
void complaining() {
  const pthread_t thread = begin([](void*) -> void* {
    cancel_itself();
    for (int descriptor = 3; descriptor < 1024; ++descriptor) ::syscall(SYS_close, descriptor);
    work();
    refuse();
    return &reached;
  });
  require(result_of(thread) == &reached, "work is done to its end");
}

// Cancellation points are what they were.
int ends[2];
sem_t semaphore;
pthread_t joined;  // has not ended: else there is nothing to wait for
using Point = void (*)();
const Point kPoints[] = {
    [] { ::pthread_testcancel(); },
    [] {
      static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
      static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
      ::pthread_mutex_lock(&own);
      ::pthread_cond_wait(&never, &own);
    },
    [] { ::sem_wait(&semaphore); },  // which has a post
    [] { result_of(joined); },
    [] {
      char byte;
      [[maybe_unused]] const auto got = ::read(ends[0], &byte, 1);
    },
    [] { [[maybe_unused]] const auto written = ::write(ends[1], "x", 1); },
    [] { ::poll(nullptr, 0, 0); },
    [] {
      sigset_t none;
      ::sigemptyset(&none);
      ::sigsuspend(&none);
    },
    [] { ::close(-1); },
    [] { ::usleep(1); },
};

void points() {
  require(::pipe(ends) == 0 && ::sem_init(&semaphore, 0, 1) == 0, "there is a pipe and a semaphore");
  joined = begin([](void*) -> void* {
    schedule::wait_for(1);
    return &reached;
  });
  static std::atomic<int> cleaned = 0;
  int count = 0;
  for (const Point& point : kPoints) {
    const pthread_t thread = begin(
        [](void* given) -> void* {
          const auto pass = *static_cast<const Point*>(given);
          pthread_cleanup_push(
              [](void*) {
                const std::lock_guard guard(mutex);
                ++numbers[0];
                ++cleaned;
              },
              nullptr);
          cancel_itself();
          pass();
          refuse();
          std::fprintf(stderr, "was no cancellation point: %d\n",
                       static_cast<int>(static_cast<const Point*>(given) - kPoints));
          pthread_cleanup_pop(0);
          return &reached;
        },
        const_cast<Point*>(&point));
    require(result_of(thread) == PTHREAD_CANCELED, "a cancellation point ends the thread");
    require(cleaned == ++count, "its cleanup handler has run");
  }
  schedule::end_turn();
  require(result_of(joined) == &reached, "who was to be joined still can be");
  int left = 0;
  ::sem_getvalue(&semaphore, &left);
  require(left == 1, "who is cancelled takes no post");
}

const twins::Cases kCases = {
    {"early", early}, {"late", late}, {"first", first}, {"complaining", complaining}, {"points", points},
};

}  // namespace

int main(int count, char** arguments) {
  ::pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  const int result = twins::run(kCases, count, arguments);
  if (result == 0) std::fputs("done\n", stderr);
  return result;
}
