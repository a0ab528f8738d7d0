// Relaxed read-modify-writes take no lock and are not told where that makes no difference
// (runtime/relaxed_updates.cpp). Here it does: each case has such an operation that the thread has done
// before, so that only what has happened since can tell it apart.
#include <heddle/heddle.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "twins.h"

int data = 0;

namespace {

std::atomic<int> count = 0;
std::atomic<int> neighbour = 0;  // most likely in the same 8 bytes

void add() { count.fetch_add(1, std::memory_order_relaxed); }

// 0: the second thread has added before, 1: the first publishes the data, 2: the second does `then`, 3: the
// first does `last`.
template <class Publish, class Then, class Last>
void after_adding(Publish publish, Then then, Last last) {
  std::thread a([&] {
    schedule::at(0, add);
    schedule::at(2, publish);
    schedule::at(4, last);
  });
  std::thread b([&] {
    schedule::at(1, [] {
      add();
      add();
    });
    schedule::at(3, then);
  });
  a.join();
  b.join();
}

void publish() {
  data = 1;
  count.store(1, std::memory_order_release);
}
// The third thread learns what was published from an update of it.
template <class Update>
void read_by_another(Update update) {
  std::thread c([] {
    schedule::at(5, [] {
      if (count.load(std::memory_order_acquire) > 0) data = 2;
    });
  });
  after_adding(publish, update, [] {});
  c.join();
}
void passed_on() { read_by_another(add); }
void not_passed_on() {
  read_by_another([] { count.store(3, std::memory_order_relaxed); });
}

#ifdef WITH_FENCE
// What it has read it learns by a fence.
void fenced() {
  after_adding(
      publish,
      [] {
        add();
        std::atomic_thread_fence(std::memory_order_acquire);
        data = 2;
      },
      [] {});
}
#endif
void not_fenced() {
  after_adding(
      publish,
      [] {
        add();
        data = 2;
      },
      [] {});
}

// A plain write between two updates.
void plain_between() {
  after_adding([] { reinterpret_cast<int&>(count) = 7; }, add, [] {});
}
void plain_beside() {
  after_adding([] { reinterpret_cast<int&>(neighbour) = 7; }, add, [] {});
}

// Between the two operations of a block the other thread updates what they are about.
[[gnu::noinline]] void look_and_set(int updates_between) {
  HEDDLE_ATOMIC("look_and_set");
  const int seen = count.load(std::memory_order_relaxed);
  if (updates_between > 0) {
    schedule::end_turn();
    schedule::wait_for(4);
  }
  count.store(seen + 1, std::memory_order_relaxed);
}
void interrupted(int updates_between) {
  std::thread a([=] {
    schedule::at(0, add);
    schedule::wait_for(2);
    look_and_set(updates_between);
    if (updates_between == 0) schedule::end_turn();
  });
  std::thread b([] {
    schedule::at(1, [] {
      add();
      add();
    });
    schedule::at(3, add);
  });
  a.join();
  b.join();
}

// What a block gave comes back to it: by a mutex to the third thread, by updates of the variable to the
// second, and by another mutex.
std::mutex first;
std::mutex second;
[[gnu::noinline]] void give_and_take() {
  HEDDLE_ATOMIC("give_and_take");
  {
    const std::lock_guard locked(first);
  }
  schedule::end_turn();
  schedule::wait_for(5);
  {
    const std::lock_guard locked(second);
  }
}
void passed_back(bool by_update) {
  std::thread a([] {
    schedule::wait_for(2);
    give_and_take();
  });
  std::thread b([=] {
    schedule::at(1, [] {
      add();
      add();
    });
    schedule::at(4, [=] {
      if (by_update) add();
      const std::lock_guard locked(second);
    });
  });
  std::thread c([] {
    schedule::at(0, add);
    schedule::at(3, [] {
      const std::lock_guard locked(first);
      add();
    });
  });
  a.join();
  b.join();
  c.join();
}

// A child that ends the calm waits for nobody who was in the middle of an update when it was forked.
[[gnu::noinline]] void take_again() {
  HEDDLE_ATOMIC("take_again");
  {
    const std::lock_guard locked(first);
  }
  {
    const std::lock_guard locked(second);
  }
}
void forked() {
  std::atomic<bool> is_over = false;
  std::thread adding([&] {
    while (!is_over.load(std::memory_order_relaxed)) add();
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::thread other([] {
        for (int times = 0; times < 100; ++times) take_again();
      });
      other.join();
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  is_over.store(true, std::memory_order_relaxed);
  adding.join();
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  const twins::Cases cases = {
      {"passed_on", passed_on},
      {"not_passed_on", not_passed_on},
#ifdef WITH_FENCE
      {"fenced", fenced},
#endif
      {"not_fenced", not_fenced},
      {"plain_between", plain_between},
      {"plain_beside", plain_beside},
      {"interrupted", [] { interrupted(1); }},
      {"not_interrupted", [] { interrupted(0); }},
      {"forked", forked},
      {"passed_back", [] { passed_back(true); }},
      {"not_passed_back", [] { passed_back(false); }},
  };
  return twins::run(cases, count_of_arguments, arguments);
}
