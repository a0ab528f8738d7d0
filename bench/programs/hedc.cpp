// A crawler of made-up archives: tasks in a queue, workers that answer them from a cache with a mutex,
// results that collect under a mutex of their own, tasks handed over from thread to thread. After the hedc of
// S4's Table 1.
//
// Size: tasks. Small: a fiftieth.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 60'000, .small = 1'200};
constexpr std::size_t kArchives = 64;

// What is asked for; one thread at a time has it.
struct Task {
  int archive = 0;
  int day = 0;
  uint64_t answer = 0;
  int steps = 0;
};

class TaskQueue {
 public:
  explicit TaskQueue(std::size_t tasks) : left_(tasks) {}

  std::unique_ptr<Task> next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (left_ == 0) return nullptr;
    auto task = std::make_unique<Task>();
    task->archive = static_cast<int>(left_ % kArchives);
    task->day = static_cast<int>(left_ % 365);
    --left_;
    return task;
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
};

// Pages that were read before.
class Cache {
 public:
  bool find(int archive, uint64_t& page) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++asked_;
    if (pages_[archive] == 0) return false;
    ++found_;
    page = pages_[archive];
    return true;
  }
  void keep(int archive, uint64_t page) {
    const std::lock_guard<std::mutex> lock(mutex_);
    pages_[archive] = page;
  }
  long asked() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return asked_;
  }
  long found() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return found_;
  }

 private:
  std::mutex mutex_;
  uint64_t pages_[kArchives] = {};
  long asked_ = 0;
  long found_ = 0;
};

class Results {
 public:
  void add(const Task& task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sum_ += task.answer;
    if (task.day == 0) sum_of_first_day_ += task.answer;
    steps_ += task.steps;
    ++count_;
  }
  uint64_t count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }
  uint64_t sum() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return sum_;
  }
  uint64_t sum_of_first_day() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return sum_of_first_day_;
  }

 private:
  std::mutex mutex_;
  uint64_t sum_ = 0;
  uint64_t sum_of_first_day_ = 0;  // what is computed again to check it
  uint64_t count_ = 0;
  long steps_ = 0;
};

// Reads a page of an archive, the same each time.
class Reader {
 public:
  uint64_t read(int archive) {
    state_ = static_cast<uint64_t>(archive) + 1;
    for (int i = 0; i < 200; ++i) advance();
    ++read_;
    return state_ | 1;
  }
  long pages() const { return read_; }

 private:
  void advance() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
  }
  uint64_t state_ = 0;
  long read_ = 0;
};

class Worker {
 public:
  Worker(TaskQueue& queue, Cache& cache, Results& results)
      : queue_(queue), cache_(cache), results_(results) {}

  void run() {
    while (std::unique_ptr<Task> task = queue_.next()) {
      answer(*task, page_of(task->archive));
      results_.add(*task);
    }
  }

  // What a task computes. Nobody else has a part in it.
  static void answer(Task& task, uint64_t page) {
    for (int i = 0; i < 2000; ++i) {
      task.answer = task.answer * 31 + (page >> (i % 60)) + static_cast<uint64_t>(task.day);
      ++task.steps;
    }
  }

 private:
  // Two workers may read the same page at the same time, and find the same.
  uint64_t page_of(int archive) {
    uint64_t page = 0;
    if (!cache_.find(archive, page)) {
      page = reader_.read(archive);
      cache_.keep(archive, page);
    }
    return page;
  }

  TaskQueue& queue_;
  Cache& cache_;
  Results& results_;
  Reader reader_;
};

uint64_t expected_of_first_day(std::size_t tasks) {
  TaskQueue queue(tasks);
  Reader reader;
  uint64_t sum = 0;
  while (std::unique_ptr<Task> task = queue.next()) {
    if (task->day != 0) continue;
    Worker::answer(*task, reader.read(task->archive));
    sum += task->answer;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("hedc", argc, argv, kSizes);
  TaskQueue queue(program.size());
  Cache cache;
  Results results;
  kernel::run_team(program.threads(), [&](std::size_t) { Worker(queue, cache, results).run(); });
  program.check_equal("the number of answers", results.count(), program.size());
  program.check_equal("the sum of the first day's answers", results.sum_of_first_day(),
                      expected_of_first_day(program.size()));
  program.check(cache.found() <= cache.asked(), "more was found than asked for");
  std::printf("hedc: %zu tasks, %llx\n", program.size(), static_cast<unsigned long long>(results.sum()));
  return 0;
}
