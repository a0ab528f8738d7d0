// Programs in which much depends on what was not told while all was calm (runtime/spans.h). The argument
// names one.
#include <heddle/heddle.h>
#include <semaphore.h>

#include <atomic>
#include <cstring>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "schedule.h"

namespace {

using schedule::at;

std::mutex a, b, k, m;
std::shared_mutex s;
std::recursive_mutex r;
sem_t posted;
std::atomic<int> x{0};

template <class Lock>
void use(Lock& lock) {
  lock.lock();
  lock.unlock();
}

template <class... Bodies>
void run(Bodies... bodies) {
  std::thread threads[] = {std::thread(bodies)...};
  for (std::thread& thread : threads) thread.join();
}

// What a thread learnt in the calm it passes on by an atomic variable, after another one has ended the calm.
void passed_on() {
  sem_init(&posted, 0, 0);
  run(
      [] {
        HEDDLE_ATOMIC("guilty");
        at(0, [] { use(m); });
        at(5, [] { (void)x.load(std::memory_order_relaxed); });
      },
      [] {
        at(1, [] {
          use(m);
          sem_post(&posted);
        });
      },
      [] {
        at(2, [] { sem_wait(&posted); });
        at(4, [] { x.store(1, std::memory_order_relaxed); });
      },
      [] {
        HEDDLE_ATOMIC("innocent");
        at(3, [] {
          use(k);
          use(b);
        });
      });
}

// Of two blocks that were open at the end of the calm, the second depends on the first only by relaxed
// operations, one of them before the end; the first depends on the second by a lock. Unless the second has
// looked before the other one wrote.
void by_atomics(bool looks_before) {
  run(
      [] {
        HEDDLE_ATOMIC("first");
        at(0, [] { use(a); });
        at(5, [] { use(b); });
      },
      [=] {
        HEDDLE_ATOMIC("second");
        at(1, [] { use(b); });
        at(looks_before ? 3 : 4, [] { (void)x.load(std::memory_order_relaxed); });
      },
      [=] {
        at(2, [] { use(a); });
        at(looks_before ? 4 : 3, [] { x.store(1, std::memory_order_relaxed); });
      });
}

// What a failed compare-exchange saw is thrown away.
void retries() {
  run(
      [] {
        HEDDLE_ATOMIC("innocent");
        int old = 0;
        at(0, [&] { old = x.load(std::memory_order_relaxed); });
        at(2, [&] {
          while (!x.compare_exchange_strong(old, old + 1)) continue;
        });
      },
      [] { at(1, [] { x.fetch_add(1); }); });
}

// What the block gave comes back with the value of a future: nothing but that orders the two.
void by_future() {
  std::promise<int> answer;
  std::future<int> asked = answer.get_future();
  run(
      [&] {
        HEDDLE_ATOMIC("guilty");
        at(0, [] { use(m); });
        at(2, [&] { asked.get(); });
      },
      [&] {
        at(1, [&] {
          use(m);
          answer.set_value(1);
        });
      });
}

// A thread is made by one who knows of a block that was open at the end of the calm.
void made_later() {
  run(
      [] {
        HEDDLE_ATOMIC("block");
        at(0, [] { use(m); });
        at(2, [] { use(k); });
        schedule::wait_for(4);
      },
      [] {
        at(1, [] { use(m); });
        at(3, [] { std::thread([] {}).join(); });
      });
}

// A lock that was taken twice, untold, is told with the order that it is held in.
void recursive() {
  run(
      [] {
        at(0, [] {
          r.lock();
          r.lock();
          use(b);
          r.unlock();
          use(a);
          r.unlock();
        });
      },
      [] {
        at(1, [] {
          a.lock();
          use(r);
          a.unlock();
        });
      });
}
void recursive_in_order() {
  sem_init(&posted, 0, 0);
  run(
      [] {
        at(0, [] {
          r.lock();
          r.lock();
          sem_post(&posted);
          r.unlock();
          a.lock();
          r.unlock();
          a.unlock();
        });
      },
      [] {
        at(1, [] {
          r.lock();
          use(a);
          r.unlock();
        });
      });
}

// A block gets back what it gave with other locks in its hands; and nobody waits there.
void only_tried() {
  run(
      [] {
        HEDDLE_ATOMIC("guilty");
        at(1, [] { use(m); });
        at(3, [] {
          a.lock();
          if (m.try_lock()) m.unlock();
          a.unlock();
        });
      },
      [] {
        at(0, [] {
          m.lock();
          use(a);
          m.unlock();
        });
        at(2, [] { use(m); });
      });
}

// It gets back a lock that others share meanwhile.
void shared(bool with_deadlock) {
  run(
      [] {
        HEDDLE_ATOMIC("guilty");
        at(0, [] {
          s.lock_shared();
          s.unlock_shared();
        });
        at(2, [] { use(k); });
        at(4, [] {
          s.lock_shared();
          s.unlock_shared();
          use(b);
        });
      },
      [=] {
        at(1, [] { use(s); });
        if (with_deadlock)
          at(6, [] {
            a.lock();
            use(s);
            a.unlock();
          });
      },
      [] {
        HEDDLE_ATOMIC("innocent");
        at(3, [] { s.lock_shared(); });
        at(5, [] {
          use(a);
          use(b);
          s.unlock_shared();
        });
      });
}

}  // namespace

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  if (is("passed_on")) passed_on();
  if (is("by_atomics")) by_atomics(false);
  if (is("looked_before")) by_atomics(true);
  if (is("retries")) retries();
  if (is("by_future")) by_future();
  if (is("made_later")) made_later();
  if (is("recursive")) recursive();
  if (is("recursive_in_order")) recursive_in_order();
  if (is("only_tried")) only_tried();
  if (is("shared")) shared(false);
  if (is("shared_and_waited_for")) shared(true);
}
