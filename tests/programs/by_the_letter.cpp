// Code that is right although its blocks are not atomic by the letter: what docs/rules/HD2001.md shows, and
// says what to do about.
#include <atomic>
#include <cstddef>

#include "twins.h"

using twins::two;

namespace {

// Of the first thread, once: the second one does all of its part now.
void let_second_pass_once() {
  if (!schedule::has_come(1)) twins::let_second_pass();
}

// A spin lock whose functions have names of their own. An exchange is a write, also when it changes nothing.
class Gate {
 public:
  void enter() {
    while (is_taken_.exchange(true)) let_second_pass_once();
  }
  void leave() { is_taken_.store(false); }

 private:
  std::atomic<bool> is_taken_{false};
};

void gate() {
  Gate gate;
  gate.enter();
  two(
      [&] {
        gate.enter();
        gate.leave();
      },
      [&] { gate.leave(); });
}

// Readers look at all of it again when the sequence number has changed meanwhile.
class Position {
 public:
  void set(int x, int y) {
    const unsigned before = sequence_.load(std::memory_order_relaxed);
    sequence_.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    x_.store(x, std::memory_order_relaxed);
    y_.store(y, std::memory_order_relaxed);
    sequence_.store(before + 2, std::memory_order_release);
  }
  int sum() const {
    for (;;) {
      const unsigned before = sequence_.load(std::memory_order_acquire);
      const int x = x_.load(std::memory_order_relaxed);
      let_second_pass_once();
      const int y = y_.load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before) return x + y;
    }
  }

 private:
  std::atomic<unsigned> sequence_{0};
  std::atomic<int> x_{0};
  std::atomic<int> y_{0};
};

void seqlock() {
  Position position;
  two([&] { std::printf("%d\n", position.sum()); }, [&] { position.set(1, 2); });
}

// A bounded queue after Vyukov: who has got a cell's number fills the cell when it likes.
class Queue {
 public:
  Queue() {
    for (std::size_t i = 0; i < kSize; ++i) cells_[i].sequence.store(i);
  }
  bool push(int value) {
    std::size_t mine = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[mine % kSize];
      let_second_pass_once();
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence == mine && tail_.compare_exchange_weak(mine, mine + 1, std::memory_order_relaxed)) {
        cell.value = value;
        cell.sequence.store(mine + 1, std::memory_order_release);
        return true;
      }
      if (sequence < mine) return false;
      if (sequence > mine) mine = tail_.load(std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::size_t kSize = 4;
  struct Cell {
    std::atomic<std::size_t> sequence;
    int value = 0;
  };
  Cell cells_[kSize];
  std::atomic<std::size_t> tail_{0};
};

void queue() {
  Queue queue;
  two([&] { queue.push(1); }, [&] { queue.push(2); });
}

// Two counters that nobody expects to fit together.
class Statistics {
 public:
  void count(bool is_hit) {
    requests_.fetch_add(1, std::memory_order_relaxed);
    let_second_pass_once();
    if (is_hit) hits_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<long> requests_{0};
  std::atomic<long> hits_{0};
};

void counters() {
  Statistics statistics;
  two([&] { statistics.count(true); }, [&] { statistics.count(true); });
}

}  // namespace

int main(int count, char** arguments) {
  return twins::run({{"gate", gate}, {"seqlock", seqlock}, {"queue", queue}, {"counters", counters}}, count,
                    arguments);
}
