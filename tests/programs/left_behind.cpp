// What threads leave behind, hand over and wait for: correct programs that have looked wrong, and their
// broken twins.
#include <heddle/heddle.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "twins.h"

namespace {

int number = 0;

// The thread ends and still has the lock. The next one gets it all the same.
void robust_lock() {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  static pthread_mutex_t lock;
  pthread_mutex_init(&lock, &kind);
  std::thread([] { pthread_mutex_lock(&lock); }).join();
  if (pthread_mutex_lock(&lock) == EOWNERDEAD) pthread_mutex_consistent(&lock);
  pthread_mutex_unlock(&lock);
}

void lock_made_anew() {
  alignas(std::mutex) static char place[sizeof(std::mutex)];
  auto* const first = new (place) std::mutex;
  std::thread([&] { first->lock(); }).join();
  auto* const second = new (place) std::mutex;
  second->lock();
  second->unlock();
}

// What is found before such a lock is found all the same.
void race_before_robust_lock() {
  std::thread other([] { number = 1; });  // here: other
  number = 2;                             // here: here
  other.join();
  robust_lock();
}

void wake_through_pipe(bool is_written_before) {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::thread sender([&] {
    char byte = 0;
    if (is_written_before) number = 1;
    if (write(ends[1], &byte, 1) != 1) return;
    if (!is_written_before) number = 1;  // here: sent
  });
  char byte;
  if (read(ends[0], &byte, 1) == 1) ++number;  // here: received
  sender.join();
}

// A function that joins a thread cannot be atomic, and nobody has said that this one is.
class Worker {
 public:
  void start() { thread_ = std::thread(&Worker::run, this); }
  void post() {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      ++jobs_;
    }
    changed_.notify_one();
  }
  void stop() {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void stop_as_a_whole() {
    HEDDLE_ATOMIC("stop");
    stop();
  }

 private:
  void run() {
    std::unique_lock<std::mutex> locked(mutex_);
    for (;;) {
      changed_.wait(locked, [this] { return stops_ || jobs_ > 0; });
      if (jobs_ == 0) return;
      --jobs_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stops_ = false;
  int jobs_ = 0;
  std::thread thread_;
};

void work(void (Worker::*stop)()) {
  Worker worker;
  worker.start();
  worker.post();
  (worker.*stop)();
}

// Where the earlier access was is forgotten, what it was is not.
template <class Access>
void long_ago(Access access) {
  std::thread a([&] {
    schedule::at(0, [&] {
      access();
      static volatile int others[8192];
      std::mutex own;
      for (volatile int& other : others) {
        const std::lock_guard lock(own);
        other = 1;
      }
    });
  });
  std::thread b([] { schedule::at(1, [] { number = 2; }); });
  a.join(), b.join();
}

// Objects of one class after the other in the same place of the stack: the second is not taken for the first.
class Apples {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++apples_;
  }
  void add_unlocked() { ++apples_; }

 private:
  std::mutex mutex_;
  int apples_ = 0;
};
class Pears {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++pears_;
  }
  void add_unlocked() { ++pears_; }

 private:
  std::mutex mutex_;
  int pears_ = 0;
};
template <class Fruits>
[[gnu::noinline]] void fill(void (Fruits::*add)()) {
  Fruits fruits;
  std::thread other([&] { fruits.add(); });
  (fruits.*add)();
  other.join();
}

const twins::Cases kCases = {
    {"robust_lock", robust_lock},
    {"lock_made_anew", lock_made_anew},
    {"race_before_robust_lock", race_before_robust_lock},
    {"pipe", [] { wake_through_pipe(true); }},
    {"after_the_pipe", [] { wake_through_pipe(false); }},
    {"written_long_ago", [] { long_ago([] { number = 1; }); }},
    {"read_long_ago", [] { long_ago([] { [[maybe_unused]] const volatile int seen = number; }); }},
    {"one_after_the_other",
     [] {
       fill(&Apples::add);
       fill(&Pears::add_unlocked);
     }},
    {"joins", [] { work(&Worker::stop); }},
    {"joins_as_a_whole", [] { work(&Worker::stop_as_a_whole); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
