// Parallel parts of blocks that should give the same result whatever the schedule: sums, a sort, tasks of a
// pool.
#include <heddle/heddle.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "twins.h"

namespace {

std::mutex mutex;
std::array<double, 4> numbers = {1e100, 1.0, -1e100, 1.0};

// Who is first adds first, and adding floating-point numbers in another order gives another sum.
double sum_as_they_come() {
  HEDDLE_DETERMINISTIC("sum");
  double sum = 0;
  const auto add = [&](double number) {
    const std::lock_guard<std::mutex> locked(mutex);
    sum += number;  // here: add
  };
  std::thread a([&] { schedule::at(0, [&] { add(numbers[0] + numbers[1]); }); });
  std::thread b([&] { schedule::at(1, [&] { add(numbers[2] + numbers[3]); }); });
  a.join();
  b.join();
  return sum;
}

// A race of which the monitor does not hear the first access: it comes after too many others.
double sum_of_the_last() {
  static std::array<volatile double, 8192> many;
  static volatile double last;
  HEDDLE_DETERMINISTIC("sum");
  std::thread a([] {
    schedule::at(0, [] {
      for (std::size_t i = 0; i < 300; ++i) many[i * i % many.size()] = 1;
      last = 1;
    });
  });
  std::thread b([] { schedule::at(1, [] { last = 2; }); });
  a.join();
  b.join();
  return last;
}

double add_in_parallel() {
  std::array<double, 2> sums = {};
  std::thread a([&] { sums[0] = numbers[0] + numbers[1]; });
  std::thread b([&] { sums[1] = numbers[2] + numbers[3]; });
  a.join();
  b.join();
  return sums[0] + sums[1];
}
double sum_of_parts() {
  HEDDLE_DETERMINISTIC("sum");
  return add_in_parallel();
}
// What the threads do lies between their beginning and their end, both in the block.
double sum_that_should_be_atomic() {
  HEDDLE_ATOMIC("sum");
  return add_in_parallel();
}
// The block begins when there are several threads already, and the first that it does is to start one more.
double total = 0;
void* add_all(void*) {
  for (const double number : numbers) total += number;
  return nullptr;
}
double sum_beside_another() {
  std::thread other([] { schedule::wait_for(1); });
  {
    HEDDLE_DETERMINISTIC("sum");
    pthread_t adder;
    pthread_create(&adder, nullptr, add_all, nullptr);
    pthread_join(adder, nullptr);
  }
  schedule::end_turn();
  other.join();
  return total;
}

std::array<int, 64> to_sort;
int swaps = 0;  // guarded by mutex_of_swaps
std::mutex mutex_of_swaps;

using Place = std::array<int, 64>::iterator;

void quicksort(Place begin, Place end, int threads, void (*after_split)()) {
  if (end - begin < 2) return;
  const int middle = *(begin + (end - begin) / 2);
  const Place first = std::partition(begin, end, [&](int number) { return number < middle; });
  const Place last = std::partition(first, end, [&](int number) { return number <= middle; });
  after_split();
  if (threads > 1) {
    std::thread other([&] { schedule::at(0, [&] { quicksort(begin, first, threads / 2, after_split); }); });
    // The same two splits are the first in every run.
    schedule::wait_for(1);
    quicksort(last, end, threads / 2, after_split);
    other.join();
  } else {
    quicksort(begin, first, 1, after_split);
    quicksort(last, end, 1, after_split);
  }
}

void count_split() {
  const std::lock_guard<std::mutex> locked(mutex_of_swaps);
  ++swaps;  // here: count
}

// Others keep out until all is sorted.
void sort_all(void (*after_split)()) {
  HEDDLE_DETERMINISTIC("sort");
  const std::lock_guard<std::mutex> locked(mutex);
  quicksort(to_sort.begin(), to_sort.end(), 2, after_split);
}
void sort_while_others_look(void (*after_split)()) {
  for (std::size_t i = 0; i < to_sort.size(); ++i) to_sort[i] = static_cast<int>(i * 37 % 64);
  std::thread looker([] {
    const std::lock_guard<std::mutex> locked(mutex);
    if (to_sort[0] < 0) std::puts("negative");
  });
  sort_all(after_split);
  looker.join();
}

// Tasks are taken by whoever is free. Each of them works on what is its own, so that its result does not
// depend on that.
class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  void add(std::function<void()> task) {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock<std::mutex> locked(mutex_);
        changed_.wait(locked, [this] { return is_over_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool is_over_ = false;
  std::vector<std::thread> workers_;
};

std::array<long, 8> results;

void square_own_numbers() {
  Pool pool(2);
  for (long i = 0; i < 8; ++i)
    pool.add([i] {
      HEDDLE_DETERMINISTIC("task");
      results[static_cast<std::size_t>(i)] = i * i;
    });
}

void print_results() {
  for (const long result : results) std::printf("%ld\n", result);
}

long last_result = 0;  // guarded by mutex

void set_last(long result) {
  const std::lock_guard<std::mutex> locked(mutex);
  last_result = result;  // here: set_last
}
long get_last() {
  const std::lock_guard<std::mutex> locked(mutex);
  return last_result;  // here: get_last
}

// The first task looks twice at what the second one changes in between.
void look_at_other_task() {
  Pool pool(2);
  pool.add([] {
    HEDDLE_DETERMINISTIC("task");
    const long before = get_last();
    twins::let_second_pass();
    results[0] = before - get_last();
  });
  pool.add([] {
    schedule::at(1, [] {
      HEDDLE_DETERMINISTIC("other_task");
      set_last(5);
    });
  });
}

void print(double sum) { std::printf("sum: %g\n", sum); }

const twins::Cases kCases = {
    {"sum_as_they_come", [] { print(sum_as_they_come()); }},
    {"sum_of_the_last", [] { print(sum_of_the_last()); }},
    {"sum_of_parts", [] { print(sum_of_parts()); }},
    {"sum_that_should_be_atomic", [] { print(sum_that_should_be_atomic()); }},
    {"sum_beside_another", [] { print(sum_beside_another()); }},
    {"counting_sort", [] { sort_while_others_look(count_split); }},
    {"sort", [] { sort_while_others_look([] {}); }},
    {"pool_of_dependent_tasks", [] { look_at_other_task(), print_results(); }},
    {"pool_of_independent_tasks", [] { square_own_numbers(), print_results(); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
