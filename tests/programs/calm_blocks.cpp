// Blocks of three threads that take and give back locks, post and await semaphores and use atomic variables,
// with fences here and there, in an order that is forced on them. The argument is a seed; it decides who does
// what, and so whether some serial order of the blocks explains it. Prints which: "violation" or "clean", by
// comparing each step with each. For long, mostly, no block takes anything after it gave something: then
// little of it need be told (runtime/calm.h).
#include <heddle/heddle.h>

#include <semaphore.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "schedule.h"

namespace {

constexpr std::size_t kThreads = 3;
constexpr std::size_t kLocks = 4;
constexpr std::size_t kOthers = 2;  // semaphores, and as many atomic variables
constexpr std::size_t kSteps = 160;
constexpr std::size_t kMostDepth = 2;

std::array<std::shared_mutex, kLocks> locks;
std::array<sem_t, kOthers> semaphores;
std::array<std::atomic<int>, kOthers> counts;

enum class Does : uint8_t {
  kBegin,
  kEnd,
  kLock,
  kUnlock,
  kLockShared,
  kUnlockShared,
  kPost,
  kWait,
  kCount,
  kLoad,
  kStore,
  kFence
};
struct Step {
  std::size_t thread;
  Does does;
  std::size_t object = 0;
  std::size_t block = 0;  // the outermost one that it is in, or a number of its own

  bool is_shared() const { return does == Does::kLockShared || does == Does::kUnlockShared; }
  bool is_of_lock() const { return does >= Does::kLock && does <= Does::kUnlockShared; }
  bool is_of_count() const { return does >= Does::kCount && does <= Does::kStore; }
};

// Whether a step depends on an earlier one.
bool depends(const Step& earlier, const Step& later) {
  if (earlier.thread == later.thread) return true;
  if (earlier.object != later.object) return false;
  if (earlier.is_of_lock() && later.is_of_lock()) return !(earlier.is_shared() && later.is_shared());
  return (earlier.does == Does::kPost && later.does == Does::kWait) ||
         (earlier.is_of_count() && later.is_of_count() &&
          !(earlier.does == Does::kLoad && later.does == Does::kLoad));
}

class Plan {
 public:
  explicit Plan(unsigned seed) : random_(seed) {
    // Steps; or few, so that there are blocks with atomics when the calm is to begin.
    const std::size_t all_in_order = below(3) == 0 ? below(20) : kSteps - below(40);
    while (steps_.size() < kSteps) add(below(kThreads), steps_.size() < all_in_order);
    for (std::size_t thread = 0; thread < kThreads; ++thread) finish(thread);
  }

  const std::vector<Step>& steps() const { return steps_; }

  // Whether the blocks, in the order of their conflicts, go round in a circle.
  bool is_violation() const {
    std::vector<std::vector<bool>> before(blocks_, std::vector<bool>(blocks_));
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (std::size_t j = i + 1; j < steps_.size(); ++j) {
        const Step& one = steps_[i];
        const Step& other = steps_[j];
        if (one.block != other.block && depends(one, other)) before[one.block][other.block] = true;
      }
    for (std::size_t through = 0; through < blocks_; ++through)
      for (std::size_t from = 0; from < blocks_; ++from)
        for (std::size_t to = 0; from != to && before[from][through] && to < blocks_; ++to)
          if (before[through][to]) before[from][to] = true;
    for (std::size_t from = 0; from < blocks_; ++from)
      for (std::size_t to = 0; to < blocks_; ++to)
        if (from != to && before[from][to] && before[to][from]) return true;
    return false;
  }

 private:
  struct Thread {
    std::size_t depth = 0;
    std::size_t block = 0;
    bool has_given = false;  // in the outermost block
    std::array<bool, kLocks> has = {};
    std::array<bool, kLocks> shares = {};
  };

  std::size_t below(std::size_t limit) { return random_() % limit; }

  bool is_free(std::size_t lock) const {
    for (const Thread& thread : threads_)
      if (thread.has.at(lock) || thread.shares.at(lock)) return false;
    return true;
  }
  bool can_be_shared(std::size_t lock, const Thread& by) const {
    for (const Thread& thread : threads_)
      if (thread.has.at(lock)) return false;
    return !by.shares.at(lock);
  }

  void add(std::size_t number, bool is_in_order) {
    Thread& thread = threads_.at(number);
    const std::size_t lock = below(kLocks);
    const std::size_t other = below(kOthers);
    const bool may_take = !is_in_order || !thread.has_given;
    switch (below(10)) {
      case 0:
        if (thread.depth < kMostDepth) begin(number);
        break;
      case 1:
        if (thread.depth > 0) end(number);
        break;
      case 2:
      case 3:
        if (may_take && is_free(lock)) {
          push(number, Does::kLock, lock);
          thread.has.at(lock) = true;
        }
        break;
      case 4:
        if (may_take && can_be_shared(lock, thread)) {
          push(number, Does::kLockShared, lock);
          thread.shares.at(lock) = true;
        }
        break;
      case 5:
        if (may_take && posts_.at(other) > 0) {
          push(number, Does::kWait, other);
          --posts_.at(other);
        }
        break;
      case 6:
        push(number, Does::kPost, other);
        ++posts_.at(other);
        thread.has_given |= thread.depth > 0;
        break;
      case 7:
        if (below(8) == 0) push(number, Does::kFence);
        if (may_take && (thread.depth == 0 || !is_in_order) && below(2) == 0) {
          // In a block, a load that comes again throws away the first (docs/design/blocks.md).
          constexpr std::array kKinds = {Does::kCount, Does::kStore, Does::kLoad};
          push(number, kKinds.at(below(thread.depth == 0 ? 3 : 2)), other);
          thread.has_given |= thread.depth > 0;
        }
        break;
      default: give_back(number, lock);
    }
  }

  void begin(std::size_t number) {
    Thread& thread = threads_.at(number);
    if (thread.depth++ == 0) {
      thread.block = blocks_++;
      thread.has_given = false;
    }
    push(number, Does::kBegin);
  }
  void end(std::size_t number) {
    push(number, Does::kEnd);
    Thread& thread = threads_.at(number);
    if (--thread.depth == 0) thread.has_given = false;
  }
  void give_back(std::size_t number, std::size_t lock) {
    Thread& thread = threads_.at(number);
    if (thread.has.at(lock)) push(number, Does::kUnlock, lock);
    if (thread.shares.at(lock)) push(number, Does::kUnlockShared, lock);
    thread.has_given |= thread.depth > 0 && (thread.has.at(lock) || thread.shares.at(lock));
    thread.has.at(lock) = thread.shares.at(lock) = false;
  }
  void finish(std::size_t number) {
    for (std::size_t lock = 0; lock < kLocks; ++lock) give_back(number, lock);
    while (threads_.at(number).depth > 0) end(number);
  }
  void push(std::size_t number, Does does, std::size_t object = 0) {
    const Thread& thread = threads_.at(number);
    steps_.push_back({number, does, object, thread.depth > 0 ? thread.block : blocks_++});
  }

  std::minstd_rand random_;
  std::vector<Step> steps_;
  std::size_t blocks_ = 0;
  std::array<Thread, kThreads> threads_ = {};
  std::array<std::size_t, kOthers> posts_ = {};  // that nobody has awaited
};

void do_it(const Step& step) {
  switch (step.does) {
    case Does::kLock: return locks.at(step.object).lock();
    case Does::kUnlock: return locks.at(step.object).unlock();
    case Does::kLockShared: return locks.at(step.object).lock_shared();
    case Does::kUnlockShared: return locks.at(step.object).unlock_shared();
    case Does::kPost: sem_post(&semaphores.at(step.object)); return;
    case Does::kWait: sem_wait(&semaphores.at(step.object)); return;
    case Does::kCount: counts.at(step.object).fetch_add(1, std::memory_order_relaxed); return;
    case Does::kLoad: static_cast<void>(counts.at(step.object).load(std::memory_order_relaxed)); return;
    case Does::kStore: counts.at(step.object).store(1, std::memory_order_relaxed); return;
    case Does::kFence:
#ifndef WITHOUT_FENCES
      std::atomic_thread_fence(std::memory_order_acq_rel);
#endif
      return;
    case Does::kBegin:
    case Does::kEnd: return;
  }
}

// The thread's steps from that one on, up to the end of the block it is in, whose turn has come then.
void run(const Plan& plan, std::size_t thread, std::size_t& at) {
  for (; at < plan.steps().size(); ++at) {
    const Step& step = plan.steps()[at];
    if (step.thread != thread) continue;
    schedule::wait_for(static_cast<int>(at));
    if (step.does == Does::kEnd) return;
    if (step.does == Does::kBegin) {
      HEDDLE_ATOMIC("block");
      schedule::end_turn();
      run(plan, thread, ++at);
    } else {
      do_it(step);
    }
    schedule::end_turn();
  }
}

}  // namespace

int main(int count, char** arguments) {
  const Plan plan(count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1);
  std::puts(plan.is_violation() ? "violation" : "clean");
  std::fflush(stdout);
  for (sem_t& semaphore : semaphores) sem_init(&semaphore, 0, 0);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&plan, thread] {
      std::size_t at = 0;
      run(plan, thread, at);
    });
  for (std::thread& thread : threads) thread.join();
}
