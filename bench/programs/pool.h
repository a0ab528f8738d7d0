// A thread pool that is fed through a queue, and the queue that most would write: bounded, one lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace kernel {

using Task = std::function<void()>;

// First in, first out; whoever pushes waits while it is full, whoever pops while it is empty.
class BoundedQueue {
 public:
  void push(Task task) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return tasks_.size() < kCapacity; });
    tasks_.push_back(std::move(task));
    not_empty_.notify_one();
  }

  // Nothing once the queue is closed and empty.
  std::optional<Task> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return closed_ || !tasks_.empty(); });
    if (tasks_.empty()) return std::nullopt;
    std::optional<Task> task = std::move(tasks_.front());
    tasks_.pop_front();
    not_full_.notify_one();
    return task;
  }

  // No push comes any more.
  void close(std::size_t /*workers*/) {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }

 private:
  static constexpr std::size_t kCapacity = 64;

  std::mutex mutex_;  // guards tasks_ and closed_
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<Task> tasks_;
  bool closed_ = false;
};

// Queue: push(Task), std::optional<Task> pop(), close(workers), after which nobody pushes and every worker
// gets nothing once the tasks are taken.
template <typename Queue>
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t threads) {
    for (std::size_t thread = 0; thread < threads; ++thread)
      workers_.emplace_back([this] {
        while (const std::optional<Task> task = tasks_.pop()) (*task)();
      });
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Returns when all tasks are done.
  ~ThreadPool() {
    tasks_.close(workers_.size());
    for (std::thread& worker : workers_) worker.join();
  }

  void submit(Task task) { tasks_.push(std::move(task)); }

 private:
  Queue tasks_;
  std::vector<std::thread> workers_;
};

}  // namespace kernel
