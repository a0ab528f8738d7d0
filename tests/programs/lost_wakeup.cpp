// A condition variable whose predicate is looked at in one critical section and waited for in another: what
// is notified in between is lost. And what only looks wrong: notifying without holding the lock.
#include <condition_variable>
#include <mutex>

#include "twins.h"

using twins::let_second_begin;
using twins::let_second_pass;
using twins::two;

namespace {

class Gate {
 public:
  void open() {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      is_open_ = true;  // here: open
    }
    opened_.notify_all();
  }

  void pass_in_two_parts() {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      if (is_open_) return;  // here: look
    }
    let_second_pass();
    std::unique_lock<std::mutex> locked(mutex_);  // here: lock
    schedule::end_turn();
    opened_.wait(locked);
  }
  void pass() {
    std::unique_lock<std::mutex> locked(mutex_);
    let_second_begin();
    while (!is_open_) opened_.wait(locked);
  }

  // Once somebody waits.
  void open_again() {
    schedule::wait_for(3);
    {
      const std::lock_guard<std::mutex> locked(mutex_);
    }
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

// Woken, it finds the gate half open, and before it has its lock again the second half is done.
class TwoGates {
 public:
  void open_one() {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      ++opened_;
    }
    changed_.notify_all();
  }
  void pass() {
    Lock lock{mutex_};
    lock.lock();
    let_second_begin();
    while (opened_ < 2) changed_.wait(lock);
    lock.unlock();
  }

 private:
  struct Lock {
    std::mutex& mutex;
    int times = 0;
    void lock() {
      if (times++ == 1) {
        schedule::end_turn();
        schedule::wait_for(3);
      }
      mutex.lock();
    }
    void unlock() { mutex.unlock(); }
  };
  std::mutex mutex_;
  std::condition_variable_any changed_;  // keeps a mutex of its own, which is none of the program's
  int opened_ = 0;
};

Gate gate;
TwoGates two_gates;

void open_both() {
  two_gates.open_one();
  schedule::wait_for(2);
  two_gates.open_one();
}

const twins::Cases kCases = {
    {"looked_before",
     [] {
       std::thread rescuer([] { gate.open_again(); });  // or the first would wait forever
       two([] { gate.pass_in_two_parts(); }, [] { gate.open(); });
       rescuer.join();
     }},
    {"looked_in_a_loop", [] { two([] { gate.pass(); }, [] { gate.open(); }); }},
    {"any_lock", [] { two([] { two_gates.pass(); }, open_both); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
