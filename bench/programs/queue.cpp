// A thread pool fed through a bounded queue. The main thread submits a task for each number, which counts the
// number's divisors and adds them to a total. Tasks are short, so the queue's lock and its two condition
// variables are busy. The threads asked for are the pool's; the main thread comes on top.
//
// Size: numbers, a task each. Small: 20000.
#include <cstdio>
#include <mutex>

#include "kernel.h"
#include "pool.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 500'000, .small = 20'000};

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
    kernel::ThreadPool<kernel::BoundedQueue> pool(program.threads());
    for (std::size_t number = 1; number <= program.size(); ++number)
      pool.submit([&total, number] { total.add(count_divisors(number)); });
  }

  program.check_equal("the number of tasks done", total.additions(), program.size());
  program.check_equal("the number of divisors", total.sum(), count_all_divisors(program.size()));
  std::printf("queue: %zu tasks, %llu divisors\n", program.size(),
              static_cast<unsigned long long>(total.sum()));
  return 0;
}
