// What is done once orders all who come later after it, and not after each other; the first argument names
// the case.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

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
std::once_flag flag;
pthread_once_t control = PTHREAD_ONCE_INIT;

template <class T>
void look_at(volatile T& place) {
  (void)place;
}

void two(const std::function<void()>& first, const std::function<void()>& second) {
  std::thread a([&] { at(0, first); });
  std::thread b([&] { at(1, second); });
  a.join();
  b.join();
}

struct Initialized {
  Initialized() { words[0] = 1; }
  int64_t value() const { return words[0]; }
};
Initialized& initialized() {
  static Initialized object;
  return object;
}

// Throws the first time.
struct Difficult {
  Difficult() {
    words[0] = words[0] + 1;
    if (words[0] == 1) throw std::runtime_error("not now");
  }
};
void try_difficult() {
  try {
    static Difficult object;
  } catch (const std::runtime_error&) {
  }
}

// As a service with a lazily made helper: every call is atomic.
class Service {
 public:
  int64_t ask() {
    const std::lock_guard<std::mutex> locked(mutex_);
    return initialized().value() + initialized().value();
  }

 private:
  std::mutex mutex_;
};

// Both go through the block while the other one is in it.
[[clang::annotate("heddle::atomic")]] void use_in_block(int first_turn) {
  at(first_turn, [] { initialized(); });
  at(first_turn + 2, [] { initialized(); });
}

sem_t* open_semaphore() { return ::sem_open("/heddle_once_test", O_CREAT, 0600, 0); }

const twins::Cases kCases = {
    {"call_once",
     [] {
       const auto use = [] {
         std::call_once(flag, [] { words[0] = 1; });
         look_at(words[0]);
       };
       two(use, use);
     }},
    {"call_once_orders_no_others",
     [] {
       const auto call = [] { std::call_once(flag, [] { words[0] = 1; }); };
       call();
       two(
           [&] {
             call();
             words[1] = 1;
           },
           [&] {
             call();
             words[1] = 2;
           });
     }},
    {"call_once_again_after_an_exception",
     [] {
       const auto call = [](bool fails) {
         std::call_once(flag, [&] {
           words[0] = words[0] + 1;
           if (fails) throw 1;
         });
       };
       two(
           [&] {
             try {
               call(true);
             } catch (int) {
             }
           },
           [&] { call(false), look_at(words[0]); });
     }},
    {"pthread_once_inside_another",
     [] {
       static pthread_once_t inner = PTHREAD_ONCE_INIT;
       const auto outer = [] {
         ::pthread_once(&inner, [] { words[0] = 1; });
         words[1] = 1;
       };
       static void (*const kOuter)() = outer;
       const auto use = [] { ::pthread_once(&control, kOuter), look_at(words[0]), look_at(words[1]); };
       two(use, use);
     }},
    {"written_before_call_once",
     [] {
       const auto call = [] { std::call_once(flag, [] { words[0] = 1; }); };
       two(
           [&] {
             call();
             words[1] = 1;
           },
           [&] { call(), look_at(words[1]); });
     }},
    {"local_static", [] { two([] { initialized(); }, [] { look_at(words[0]), initialized(); }); }},
    {"local_static_first", [] { two([] { initialized(); }, [] { initialized(), look_at(words[0]); }); }},
    {"local_static_orders_no_others",
     [] {
       initialized();
       two(
           [] {
             initialized();
             words[1] = 1;
           },
           [] {
             initialized();
             words[1] = 2;
           });
     }},
    {"local_static_at_once",
     [] {
       std::thread threads[8];
       for (std::thread& thread : threads) thread = std::thread([] { initialized(), look_at(words[0]); });
       for (std::thread& thread : threads) thread.join();
     }},
    {"local_static_after_an_exception", [] { two(try_difficult, try_difficult); }},
    {"local_static_in_atomic_blocks",
     [] {
       std::thread a([] { use_in_block(0); });
       std::thread b([] { use_in_block(1); });
       a.join();
       b.join();
       Service service;
       two([&] { service.ask(); }, [&] { service.ask(); });
     }},
    {"named_semaphore",
     [] {
       sem_t* const mine = open_semaphore();
       two([&] { words[0] = 1, ::sem_post(mine); },
           [&] {
             sem_t* const same = open_semaphore();
             ::sem_wait(same), look_at(words[0]);
             ::sem_close(same);
           });
       ::sem_close(mine);
       ::sem_unlink("/heddle_once_test");
     }},
    // Another semaphore in its place carries nothing.
    {"named_semaphore_after_another",
     [] {
       const auto once = [](bool posts) {
         sem_t* const semaphore = open_semaphore();
         if (posts) words[0] = 1;
         ::sem_post(semaphore);
         if (!posts) ::sem_wait(semaphore), look_at(words[0]);
         ::sem_close(semaphore);
         ::sem_unlink("/heddle_once_test");
       };
       two([&] { once(true); }, [&] { once(false); });
     }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
