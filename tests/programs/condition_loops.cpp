// A block that waits for a condition lets others in, on purpose. Whether it had to wait is luck, and makes no
// difference to what is said of it: what comes before and what comes after are judged apart. Each of the two
// is still a block.
#include <heddle/heddle.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "twins.h"

using twins::let_second_pass;
using twins::two;

namespace {

std::atomic<int> waiting{0};

// The one who waits counts itself first. The other one looks at that count and gives: before or after.
template <class Condition>
class Box {
 public:
  int take() {
    waiting.fetch_add(1);
    if (comes_late) let_second_pass();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_full(); });
    is_full_ = false;
    return value_;
  }
  int take_by_hand() {
    waiting.fetch_add(1);
    if (comes_late) let_second_pass();
    std::unique_lock lock(mutex_);
    while (!is_full()) changed_.wait(lock);
    is_full_ = false;
    return value_;
  }
  void give(int value) {
    const std::lock_guard lock(mutex_);
    value_ = value + waiting.load();
    is_full_ = true;
    changed_.notify_one();
  }

  bool comes_late = false;

 private:
  bool is_full() {
    if (!comes_late && !schedule::has_come(1)) twins::let_second_begin();
    return is_full_;
  }

  std::mutex mutex_;
  Condition changed_;
  bool is_full_ = false;
  int value_ = 0;
};

template <class Condition, bool kComesLate>
void take() {
  Box<Condition> box;
  box.comes_late = kComesLate;
  two([&] { std::printf("%d\n", box.take()); }, [&] { box.give(3); });
}
template <bool kComesLate>
void by_hand() {
  Box<std::condition_variable> box;
  box.comes_late = kComesLate;
  two([&] { std::printf("%d\n", box.take_by_hand()); }, [&] { box.give(3); });
}

pthread_mutex_t plain_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t plain_changed = PTHREAD_COND_INITIALIZER;
int plain_value = 0;

template <bool kComesLate>
void with_pthread() {
  two(
      [] {
        HEDDLE_ATOMIC("take");
        waiting.fetch_add(1);
        if (kComesLate) let_second_pass();
        pthread_mutex_lock(&plain_mutex);
        while (plain_value == 0) {
          if (!kComesLate && !schedule::has_come(1)) twins::let_second_begin();
          pthread_cond_wait(&plain_changed, &plain_mutex);
        }
        std::printf("%d\n", plain_value);
        pthread_mutex_unlock(&plain_mutex);
      },
      [] {
        pthread_mutex_lock(&plain_mutex);
        plain_value = 1 + waiting.load();
        pthread_cond_signal(&plain_changed);
        pthread_mutex_unlock(&plain_mutex);
      });
}

class Counter {
 public:
  // What comes after the wait is a block like any other.
  void add_when_open() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return is_open_; });
    const int seen = count_;  // here: seen
    lock.unlock();
    let_second_pass();
    lock.lock();
    count_ = seen + 1;  // here: stored
  }
  // And so is what comes before.
  void add_and_wait() {
    std::unique_lock lock(mutex_);
    const int seen = count_;
    lock.unlock();
    let_second_pass();
    lock.lock();
    count_ = seen + 1;
    opened_.wait(lock, [&] { return is_open_; });
  }
  // No loop: it does not wait for anything that holds afterwards. It is one block when it did not wait.
  void add_without_loop() {
    std::unique_lock lock(mutex_);
    const int seen = count_;
    lock.unlock();
    let_second_pass();
    lock.lock();
    if (!is_open_) opened_.wait(lock);
    count_ = seen + 1;
  }
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;  // here: added
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = true;
  int count_ = 0;
};

template <auto kAdd>
void counter() {
  Counter counter;
  two([&] { (counter.*kAdd)(); }, [&] { counter.add(); });
}

}  // namespace

int main(int count, char** arguments) {
  using Any = std::condition_variable_any;
  using Plain = std::condition_variable;
  return twins::run({{"early", take<Plain, false>},
                     {"late", take<Plain, true>},
                     {"early_any", take<Any, false>},
                     {"late_any", take<Any, true>},
                     {"early_by_hand", by_hand<false>},
                     {"late_by_hand", by_hand<true>},
                     {"early_pthread", with_pthread<false>},
                     {"late_pthread", with_pthread<true>},
                     {"after", counter<&Counter::add_when_open>},
                     {"before", counter<&Counter::add_and_wait>},
                     {"without_loop", counter<&Counter::add_without_loop>}},
                    count, arguments);
}
