// Every means of synchronization, used correctly. Each case hands plain data from thread to thread by one of
// them.
#include <heddle/heddle.h>
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <vector>

#include "twins.h"

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 20;

long data = 0;  // guarded by what the case is about

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

template <class Body>
void in_rounds(Body body) {
  in_threads([&](int thread) {
    for (int i = 0; i < kRounds; ++i) body(thread);
  });
  std::printf("%ld\n", data);
}

template <class Mutex>
void guard() {
  static Mutex mutex;
  in_rounds([](int) {
    HEDDLE_ATOMIC("add");
    const std::lock_guard<Mutex> locked(mutex);
    ++data;
  });
}

template <class Mutex>
void try_and_wait_for() {
  static Mutex mutex;
  in_rounds([](int) {
    HEDDLE_ATOMIC("add");
    std::unique_lock<Mutex> locked(mutex, std::try_to_lock);
    while (!locked.owns_lock()) (void)locked.try_lock_for(std::chrono::milliseconds(1));
    ++data;
  });
}

template <class Mutex>
void lock_again() {
  static Mutex mutex;
  in_rounds([](int) {
    HEDDLE_ATOMIC("add");
    const std::lock_guard<Mutex> locked(mutex);
    const std::lock_guard<Mutex> again(mutex);
    ++data;
  });
}

template <class Mutex>
void share() {
  static Mutex mutex;
  in_rounds([](int thread) {
    HEDDLE_ATOMIC("use");
    if (thread == 0) {
      const std::lock_guard<Mutex> locked(mutex);
      ++data;
    } else {
      const std::shared_lock<Mutex> locked(mutex);
      if (data < 0) std::puts("negative");
    }
  });
}

// A queue of one: producers and consumers wait for each other.
template <class Condition, class Mutex, bool kIsAtomic>
void wait_for_condition() {
  static Mutex mutex;
  static Condition changed;
  static bool is_full = false;
  const auto turn = [](int thread) {
    const bool produces = thread % 2 == 0;
    {
      std::unique_lock<Mutex> locked(mutex);
      changed.wait(locked, [&] { return is_full != produces; });
      is_full = produces;
      ++data;
    }
    changed.notify_all();
  };
  in_rounds([&](int thread) {
    if constexpr (kIsAtomic) {
      HEDDLE_ATOMIC("produce or consume");
      turn(thread);
    } else {
      turn(thread);
    }
  });
}

void barrier() {
  static long parts[kThreads];
  const auto add_up = []() noexcept {
    for (const long part : parts) data += part;
  };
  std::barrier phases(kThreads, add_up);
  in_rounds([&](int thread) {
    parts[thread] += thread;
    phases.arrive_and_wait();
    if (data < 0) std::puts("negative");
    (void)phases.arrive_and_wait();
  });
}

void barrier_in_two_steps() {
  static long parts[kThreads];
  std::barrier phases(kThreads);
  in_rounds([&](int thread) {
    parts[thread] += thread;
    phases.wait(phases.arrive());
    if (parts[(thread + 1) % kThreads] < 0) std::puts("negative");
    phases.arrive_and_wait();
  });
}

void latch() {
  std::latch started(1);
  std::latch finished(kThreads);
  static long parts[kThreads];
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      started.wait();
      parts[i] = data + i;
      finished.count_down();
    });
  data = 5;
  started.count_down();
  finished.wait();
  for (const long part : parts) data += part;
  for (std::thread& thread : threads) thread.join();
  std::printf("%ld\n", data);
}

void counting_semaphore() {
  static long items[kRounds];
  std::counting_semaphore<kRounds> filled(0);
  std::thread producer([&] {
    for (int i = 0; i < kRounds; ++i) {
      items[i] = i;
      filled.release();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    filled.acquire();
    data += items[i];
  }
  producer.join();
  std::printf("%ld\n", data);
}

void binary_semaphore() {
  static std::binary_semaphore free(1);
  in_rounds([](int) {
    HEDDLE_ATOMIC("add");
    free.acquire();
    ++data;
    free.release();
  });
}

void promise() {
  std::promise<std::shared_ptr<long>> promised;
  std::shared_future<std::shared_ptr<long>> result = promised.get_future().share();
  std::thread maker([&] { promised.set_value(std::make_shared<long>(7)); });
  in_threads([result](int) {
    if (*result.get() != 7) std::puts("not 7");
  });
  maker.join();
}

void packaged_task() {
  std::packaged_task<void()> task([] { data = 7; });
  std::future<void> done = task.get_future();
  std::thread worker(std::move(task));
  done.get();
  std::printf("%ld\n", data);
  worker.join();
}

void async() {
  std::future<void> first = std::async(std::launch::async, [] { data = 7; });
  first.wait();
  std::future<long> second = std::async(std::launch::async, [] { return data + 1; });
  std::printf("%ld\n", second.get());
}

void stop_token() {
  long rounds = 0;
  {
    const std::jthread worker([&](const std::stop_token& stopped) {
      while (!stopped.stop_requested()) ++rounds;
    });
  }
  long noticed = 0;
  std::jthread other([](const std::stop_token& stopped) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock<std::mutex> locked(mutex);
    changed.wait(locked, stopped, [] { return false; });
  });
  const std::stop_callback callback(other.get_stop_token(), [&] { ++noticed; });
  other.request_stop();
  other.join();
  std::printf("%d %ld\n", rounds >= 0, noticed);
}

// The last owner destroys what the others have used.
void shared_pointer() {
  auto shared = std::make_shared<std::vector<long>>(kThreads);
  std::weak_ptr<std::vector<long>> weak = shared;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([mine = shared, weak, i]() mutable {
      (*mine)[i] = 1;
      if (const auto locked = weak.lock()) (*locked)[i] = 2;
      mine.reset();
    });
  shared.reset();
  for (std::thread& thread : threads) thread.join();
}

void atomic_wait() {
  std::atomic<int> turn{0};
  in_threads([&](int thread) {
    for (int now = turn.load(); now != thread; now = turn.load()) turn.wait(now);
    ++data;
    turn.store(thread + 1);
    turn.notify_all();
  });
  std::printf("%ld\n", data);
}

void atomic_flag() {
  static std::atomic_flag is_taken;
  in_rounds([](int) {
    while (is_taken.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    ++data;
    is_taken.clear(std::memory_order_release);
  });
}

void spin_lock() {
  static pthread_spinlock_t lock;
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  in_rounds([](int) {
    HEDDLE_ATOMIC("add");
    pthread_spin_lock(&lock);
    ++data;
    pthread_spin_unlock(&lock);
  });
  pthread_spin_destroy(&lock);
}

void rwlock() {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  in_rounds([](int thread) {
    HEDDLE_ATOMIC("use");
    if (thread == 0) {
      pthread_rwlock_wrlock(&lock);
      ++data;
    } else {
      pthread_rwlock_rdlock(&lock);
      if (data < 0) std::puts("negative");
    }
    pthread_rwlock_unlock(&lock);
  });
}

void pthread_barrier() {
  static pthread_barrier_t phases;
  static long parts[kThreads];
  pthread_barrier_init(&phases, nullptr, kThreads);
  in_rounds([](int thread) {
    parts[thread] += thread;
    if (pthread_barrier_wait(&phases) == PTHREAD_BARRIER_SERIAL_THREAD)
      for (const long part : parts) data += part;
    pthread_barrier_wait(&phases);
  });
  pthread_barrier_destroy(&phases);
}

void pthread_semaphore() {
  static sem_t free;
  sem_init(&free, 0, 1);
  in_rounds([](int) {
    HEDDLE_ATOMIC("add");
    sem_wait(&free);
    ++data;
    sem_post(&free);
  });
  sem_destroy(&free);
}

void pthread_condition() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  static int turn = 0;
  in_threads([](int thread) {
    pthread_mutex_lock(&mutex);
    while (turn != thread) pthread_cond_wait(&changed, &mutex);
    ++data;
    ++turn;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  });
}

thread_local std::vector<long> own;

void thread_locals() {
  in_rounds([](int) {
    HEDDLE_ATOMIC("add");
    own.push_back(static_cast<long>(own.size()));
  });
}

void threads_in_threads() {
  static long parts[kThreads];
  in_threads([](int thread) {
    std::thread([thread] { parts[thread] = 1; }).join();
    ++parts[thread];
  });
  for (const long part : parts) data += part;
  std::printf("%ld\n", data);
}

const twins::Cases kCases = {
    {"mutex", guard<std::mutex>},
    {"timed_mutex", try_and_wait_for<std::timed_mutex>},
    {"recursive_mutex", lock_again<std::recursive_mutex>},
    {"recursive_timed_mutex", lock_again<std::recursive_timed_mutex>},
    {"shared_mutex", share<std::shared_mutex>},
    {"shared_timed_mutex", share<std::shared_timed_mutex>},
    {"condition_variable", wait_for_condition<std::condition_variable, std::mutex, true>},
    {"condition_variable_any", wait_for_condition<std::condition_variable_any, std::timed_mutex, false>},
    {"barrier", barrier},
    {"barrier_in_two_steps", barrier_in_two_steps},
    {"latch", latch},
    {"counting_semaphore", counting_semaphore},
    {"binary_semaphore", binary_semaphore},
    {"promise", promise},
    {"packaged_task", packaged_task},
    {"async", async},
    {"stop_token", stop_token},
    {"shared_pointer", shared_pointer},
    {"atomic_wait", atomic_wait},
    {"atomic_flag", atomic_flag},
    {"spin_lock", spin_lock},
    {"rwlock", rwlock},
    {"pthread_barrier", pthread_barrier},
    {"pthread_semaphore", pthread_semaphore},
    {"pthread_condition", pthread_condition},
    {"thread_locals", thread_locals},
    {"threads_in_threads", threads_in_threads},
};

}  // namespace

// One case alone, or all of them.
int main(int count, char** arguments) {
  if (count > 1 && std::string(arguments[1]) != "all") return twins::run(kCases, count, arguments);
  for (const auto& [name, run] : kCases) run();
}
