// A thread pool whose tasks are products of matrices, each with two threads of its own, and the queue with
// two locks by Michael and Scott: who adds and who takes do not wait for each other. After the queue-mm of
// S0's Table 1.
//
// Size: products of 120 x 120 matrices; the work is proportional. Small: 16. The threads asked for are the
// pool's.
#define KERNEL_IS_PART

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "kernel.h"
#include "pool.h"

#include "matrixmult.cpp"

namespace {

constexpr kernel::Sizes kSizes{.normal = 800, .small = 16};

constexpr std::size_t kSide = 120;
constexpr std::size_t kThreadsPerTask = 2;

// A list that begins with a node whose task has been taken, so that the two ends never meet in one node that
// both change. When nothing else is in the list, one side writes its `next` while the other reads it.
class TwoLockQueue {
 public:
  TwoLockQueue() : first_(new Node), last_(first_) {}
  TwoLockQueue(const TwoLockQueue&) = delete;
  TwoLockQueue& operator=(const TwoLockQueue&) = delete;
  ~TwoLockQueue() {
    while (first_ != nullptr) delete std::exchange(first_, first_->next.load(std::memory_order_relaxed));
  }

  void push(kernel::Task task) { append(std::move(task)); }

  // Nothing: the queue is closed.
  std::optional<kernel::Task> pop() {
    size_.acquire();
    std::unique_ptr<Node> taken;
    std::optional<kernel::Task> task;
    {
      const std::lock_guard lock(first_mutex_);
      taken.reset(first_);
      first_ = first_->next.load(std::memory_order_acquire);
      task = std::move(first_->task);
    }
    return task;
  }

  void close(std::size_t workers) {
    for (std::size_t worker = 0; worker < workers; ++worker) append(std::nullopt);
  }

 private:
  struct Node {
    std::optional<kernel::Task> task;
    std::atomic<Node*> next = nullptr;
  };

  void append(std::optional<kernel::Task> task) {
    auto node = std::make_unique<Node>();
    node->task = std::move(task);
    {
      const std::lock_guard lock(last_mutex_);
      Node* const before = std::exchange(last_, node.get());
      before->next.store(node.release(), std::memory_order_release);
    }
    size_.release();
  }

  std::mutex first_mutex_;  // guards first_, and the task of the node after it
  Node* first_;
  std::mutex last_mutex_;  // guards last_
  Node* last_;
  std::counting_semaphore<> size_{0};
};

// Each task has a place of its own for what it says.
void run_task(std::string& said) {
  said = kernel::matrixmult::run(kernel::Program("matrixmult", kThreadsPerTask, kSide));
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("queue_mm", argc, argv, kSizes);
  std::vector<std::string> said(program.size());
  {
    kernel::ThreadPool<TwoLockQueue> pool(program.threads());
    for (std::string& product : said) pool.submit([&product] { run_task(product); });
  }

  // Each product has been checked; all are the same.
  for (const std::string& product : said)
    program.check(product == said[0], "a task computed \"" + product + "\", and once \"" + said[0] + "\"");
  program.check(!said[0].empty(), "a task was not done");
  std::printf("queue_mm: %zu products of %zu x %zu matrices\n", said.size(), kSide, kSide);
  return 0;
}
