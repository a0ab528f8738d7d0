// A thread pool fed through a bounded queue. The main thread submits a task for each number, which counts the
// number's divisors and adds them to a total. Tasks are short, so the queue's lock and its two condition
// variables are busy. The threads asked for are the pool's; the main thread comes on top.
//
// Size: numbers, a task each. Small: 20000.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 500'000, .small = 20'000};

constexpr std::size_t kCapacity = 64;

// First in, first out; whoever pushes waits while it is full, whoever pops while it is empty.
template <typename Item>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  void push(Item item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return items_.size() < capacity_; });
    items_.push_back(std::move(item));
    not_empty_.notify_one();
  }

  // Nothing once the queue is closed and empty.
  std::optional<Item> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<Item> item = std::move(items_.front());
    items_.pop_front();
    not_full_.notify_one();
    return item;
  }

  // No push comes any more.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;  // guards items_ and closed_
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<Item> items_;
  bool closed_ = false;
};

class ThreadPool {
 public:
  using Task = std::function<void()>;

  explicit ThreadPool(std::size_t threads) : tasks_(kCapacity) {
    for (std::size_t thread = 0; thread < threads; ++thread)
      workers_.emplace_back([this] {
        while (const std::optional<Task> task = tasks_.pop()) (*task)();
      });
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Returns when all tasks are done.
  ~ThreadPool() {
    tasks_.close();
    for (std::thread& worker : workers_) worker.join();
  }

  void submit(Task task) { tasks_.push(std::move(task)); }

 private:
  BoundedQueue<Task> tasks_;
  std::vector<std::thread> workers_;
};

class Total {
 public:
  void add(uint64_t amount) {
    const std::lock_guard lock(mutex_);
    sum_ += amount;
    ++additions_;
  }

  uint64_t sum() const {
    const std::lock_guard lock(mutex_);
    return sum_;
  }

  uint64_t additions() const {
    const std::lock_guard lock(mutex_);
    return additions_;
  }

 private:
  mutable std::mutex mutex_;  // guards what follows
  uint64_t sum_ = 0;
  uint64_t additions_ = 0;
};

uint64_t count_divisors(std::size_t number) {
  uint64_t divisors = 0;
  for (std::size_t i = 1; i * i <= number; ++i)
    if (number % i == 0) divisors += i * i == number ? 1 : 2;
  return divisors;
}

// The divisors of all numbers up to `last`, counted the other way round: by how many numbers each one
// divides.
uint64_t count_all_divisors(std::size_t last) {
  uint64_t sum = 0;
  for (std::size_t divisor = 1; divisor <= last; ++divisor) sum += last / divisor;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("queue", argc, argv, kSizes);
  Total total;
  {
    ThreadPool pool(program.threads());
    for (std::size_t number = 1; number <= program.size(); ++number)
      pool.submit([&total, number] { total.add(count_divisors(number)); });
  }

  program.check_equal("the number of tasks done", total.additions(), program.size());
  program.check_equal("the number of divisors", total.sum(), count_all_divisors(program.size()));
  std::printf("queue: %zu tasks, %llu divisors\n", program.size(),
              static_cast<unsigned long long>(total.sum()));
  return 0;
}
