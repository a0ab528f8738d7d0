// Programs that stand still, in every way that locks allow, until somebody ends them; and some that look like
// it.
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <future>
#include <mutex>
#include <semaphore>
#include <vector>

#include "twins.h"

namespace {

std::mutex a;
std::mutex b;
std::mutex c;

// Each holds its first lock before any wants its second.
void lock_both(std::mutex& first, std::mutex& second, int threads) {
  const std::lock_guard<std::mutex> one(first);  // here: first
  schedule::end_turn();
  schedule::wait_for(threads);
  const std::lock_guard<std::mutex> two(second);  // here: second
}

void run(const std::vector<std::function<void()>>& bodies) {
  std::vector<std::thread> threads;
  threads.reserve(bodies.size());
  for (const std::function<void()>& body : bodies) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();  // here: join_all
}

// First in turns, so that it is known what can happen, then it does.
void meet_again() {
  const auto both_times = [](std::mutex& first, std::mutex& second, int turn) {
    for (const int begin : {turn, 4}) {
      schedule::wait_for(begin);
      lock_both(first, second, begin == 4 ? 6 : begin + 1);
      schedule::end_turn();
    }
  };
  run({[=] { both_times(a, b, 0); }, [=] { both_times(b, a, 2); }});
}

void lock_again() {
  const std::lock_guard<std::mutex> locked(a);  // here: once
  a.lock();                                     // here: again
}

pthread_rwlock_t book = PTHREAD_RWLOCK_INITIALIZER;

// Another reader does no harm; it is the one who wants the mutex that the writer waits for.
void read_and_write() {
  run({[] {
         pthread_rwlock_rdlock(&book);
         schedule::end_turn();
         schedule::wait_for(3);
         pthread_rwlock_unlock(&book);
       },
       [] {
         pthread_rwlock_rdlock(&book);  // here: read
         schedule::end_turn();
         schedule::wait_for(3);
         a.lock();  // here: mutex
       },
       [] {
         a.lock();  // here: own_mutex
         schedule::end_turn();
         schedule::wait_for(3);
         pthread_rwlock_wrlock(&book);  // here: write
       }});
}

void become_writer() {
  pthread_rwlock_rdlock(&book);
  pthread_rwlock_wrlock(&book);
}

pthread_spinlock_t spin;

void spin_twice() {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_lock(&spin);
  pthread_spin_lock(&spin);
}

// T1 wants what the one holds who waits for its end.
void join_locked() {
  run({[] {}});                                 // there is somebody to tell from now on
  const std::lock_guard<std::mutex> locked(a);  // here: before_join
  std::thread([] {
    const std::lock_guard<std::mutex> wanted(a);  // here: before_end
  }).join();
}

std::mutex early;

__attribute__((noinline)) void take_early() { early.lock(); }  // here: take_early

// The same with a lock that was taken when there was nobody else.
void join_locked_early() {
  take_early();  // here: early
  std::thread([] {
    early.lock();  // here: wanted_early
  }).join();       // here: join
}

// Given back in time; and one that no longer exists, another one at the same place.
void give_back_early() {
  take_early();
  early.unlock();
  pthread_mutex_t local;
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_init(&local, nullptr);
    pthread_mutex_lock(&local);
    pthread_mutex_unlock(&local);
    pthread_mutex_destroy(&local);
  }
  run({[&] {
    pthread_mutex_init(&local, nullptr);
    pthread_mutex_lock(&local);
    const std::lock_guard<std::mutex> locked(early);
    pthread_mutex_unlock(&local);
  }});
}

std::condition_variable never;
std::binary_semaphore nobody(0);

// No circle, and still nobody goes on.
void wait_for_nothing() {
  run({[] { nobody.acquire(); },
       [] {
         std::unique_lock<std::mutex> lock(a);
         never.wait(lock);
       },
       [] {
         std::promise<void> kept;
         kept.get_future().wait();
       }});
}

pthread_mutex_t checked;

void refuse() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checked, &attributes);
  run({[] {
    pthread_mutex_lock(&checked);
    if (pthread_mutex_lock(&checked) != EDEADLK) std::puts("an error-checking mutex waits for itself");
    pthread_mutex_unlock(&checked);
    pthread_rwlock_wrlock(&book);
    if (pthread_rwlock_rdlock(&book) != EDEADLK) std::puts("a writer waits for itself");
    if (pthread_rwlock_wrlock(&book) != EDEADLK) std::puts("a writer waits for itself");
    pthread_rwlock_unlock(&book);
  }});
}

// Both hold what the other one wants, and give up.
void give_up() {
  const auto try_both = [](std::timed_mutex& first, std::timed_mutex& second) {
    first.lock();
    schedule::end_turn();
    schedule::wait_for(2);
    if (second.try_lock_for(std::chrono::milliseconds(1))) second.unlock();
    schedule::end_turn();
    schedule::wait_for(4);
    first.unlock();
  };
  static std::timed_mutex one;
  static std::timed_mutex other;
  run({[=] { try_both(one, other); }, [=] { try_both(other, one); }});
}

// The queue at a lock is no circle, however long.
void queue() {
  std::vector<std::function<void()>> bodies(8, [] {
    for (int i = 0; i < 500; ++i) {
      const std::lock_guard<std::mutex> one(a);
      const std::lock_guard<std::mutex> two(b);
    }
  });
  run(bodies);
}

const twins::Cases kCases = {
    {"two_locks", [] { run({[] { lock_both(a, b, 2); }, [] { lock_both(b, a, 2); }}); }},
    {"three_locks",
     [] { run({[] { lock_both(a, b, 3); }, [] { lock_both(b, c, 3); }, [] { lock_both(c, a, 3); }}); }},
    {"predicted", meet_again},
    {"itself", [] { run({lock_again}); }},
    {"reader", read_and_write},
    {"upgrade", [] { run({become_writer}); }},
    {"spins", [] { run({spin_twice}); }},
    {"join", join_locked},
    {"early", join_locked_early},
    {"alone", lock_again},
    {"upgrade_alone", become_writer},
    {"early_and_over", give_back_early},
    {"no_circle", wait_for_nothing},
    {"refused", refuse},
    {"gives_up", give_up},
    {"queue", queue},
};

}  // namespace

int main(int count, char** arguments) {
  std::printf("%d\n", getpid());
  std::fflush(stdout);
  return twins::run(kCases, count, arguments);
}
