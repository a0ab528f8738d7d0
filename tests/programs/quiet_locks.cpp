// Threads that take and give back mutexes and reader-writer locks and use variables, in an order that is
// forced on them, after so many locks that a program of which only races are wanted is told of none any more.
// What each of them knows then is said by no more than what stands at the locks (Sync::left), and mostly
// nothing is news.
//
//   quiet_locks SEED THREADS          no two accesses are without order
//   quiet_locks SEED THREADS race     but for the last one
//   quiet_locks passed_on THREADS     a thread learns, does nothing and passes it on, to who knows all it
//   did; beside so many others
//
// Clocks that are advanced with every step say here what is ordered.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "schedule.h"

namespace {

constexpr std::size_t kMutexes = 3;
constexpr std::size_t kSharedMutexes = 1;
constexpr std::size_t kLocks = kMutexes + kSharedMutexes;
constexpr std::size_t kVariables = 4;
constexpr std::size_t kGenerations = 4;  // of threads: each gets the place of one that has ended
constexpr std::size_t kSteps = 400;      // of a generation

std::array<std::mutex, kMutexes> mutexes;
std::array<std::shared_mutex, kSharedMutexes> shared_mutexes;

struct alignas(64) Variable {
  long value = 0;
};
std::array<Variable, kVariables> variables;

// A lock is taken, a variable used, the lock given back; or one of them.
struct Step {
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t thread = 0;
  std::size_t lock = kNone;
  bool is_shared = false;
  std::size_t variable = kNone;
  bool writes = false;
};

using Clock = std::vector<uint64_t>;
void join(Clock& into, const Clock& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

// Who knows what, by definition. Place 0 is main's.
class Order {
 public:
  explicit Order(std::size_t threads)
      : clocks_(threads + 1, Clock(threads + 1)), locks_(kLocks, Clock(threads + 1)), shared_(locks_) {
    for (Accesses& accesses : accesses_) accesses = {Clock(threads + 1), Clock(threads + 1)};
  }

  void start_all() {
    for (std::size_t thread = 1; thread < clocks_.size(); ++thread) join(clocks_[thread], tick(0));
  }
  void join_all() {
    for (std::size_t thread = 1; thread < clocks_.size(); ++thread) join(clocks_[0], tick(thread));
  }

  // False: the access would be in a race, and is not done.
  bool add(const Step& step) {
    Clock& clock = clocks_[step.thread];
    Clock now = clock;
    if (step.lock != Step::kNone) {
      join(now, locks_[step.lock]);
      if (!step.is_shared) join(now, shared_[step.lock]);
    }
    if (step.variable != Step::kNone) {
      const Accesses& accesses = accesses_[step.variable];
      if (!is_before(accesses.writes, now) || (step.writes && !is_before(accesses.reads, now))) return false;
    }
    clock = now;
    const uint64_t time = tick(step.thread)[step.thread];
    if (step.variable != Step::kNone)
      (step.writes ? accesses_[step.variable].writes : accesses_[step.variable].reads)[step.thread] = time;
    if (step.lock == Step::kNone) return true;
    join(step.is_shared ? shared_[step.lock] : locks_[step.lock], clock);
    tick(step.thread);
    return true;
  }

 private:
  struct Accesses {
    Clock reads;
    Clock writes;
  };

  static bool is_before(const Clock& accesses, const Clock& now) {
    for (std::size_t i = 0; i < now.size(); ++i)
      if (accesses[i] > now[i]) return false;
    return true;
  }
  const Clock& tick(std::size_t thread) {
    ++clocks_[thread][thread];
    return clocks_[thread];
  }

  std::vector<Clock> clocks_;
  std::vector<Clock> locks_;
  std::vector<Clock> shared_;
  std::array<Accesses, kVariables> accesses_;
};

Step random_step(std::mt19937_64& random, std::size_t threads) {
  Step step;
  step.thread = 1 + random() % threads;
  if (random() % 16 != 0) {
    step.lock = random() % kLocks;
    step.is_shared = step.lock >= kMutexes && random() % 2 == 0;
  }
  // Mostly there is nothing to say.
  if (step.lock == Step::kNone || random() % 8 == 0) {
    step.variable = random() % kVariables;
    step.writes = random() % 3 == 0;
  }
  return step;
}

[[gnu::noinline]] void use(const Step& step) {
  if (step.variable == Step::kNone) return;
  if (step.writes) {
    ++variables[step.variable].value;
  } else {
    static_cast<void>(*const_cast<const volatile long*>(&variables[step.variable].value));
  }
}

void act(const Step& step) {
  if (step.lock == Step::kNone) return use(step);
  if (step.lock < kMutexes) {
    const std::lock_guard lock(mutexes[step.lock]);
    return use(step);
  }
  std::shared_mutex& mutex = shared_mutexes[step.lock - kMutexes];
  if (step.is_shared) {
    const std::shared_lock lock(mutex);
    return use(step);
  }
  const std::lock_guard lock(mutex);
  use(step);
}

void run(const std::vector<Step>& steps, std::size_t thread, int before) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].thread == thread) schedule::at(before + static_cast<int>(i), [&] { act(steps[i]); });
}

// So many that nobody is told of locks after them.
void take_many_locks() {
  constexpr int kMany = 60'000;
  const auto take = [] {
    for (int i = 0; i < kMany; ++i)
      const std::lock_guard lock(mutexes[static_cast<std::size_t>(i) % kMutexes]);
  };
  std::thread other(take);
  take();
  other.join();
}

void touch(std::mutex& mutex) { const std::lock_guard lock(mutex); }

void pass_on(std::size_t others) {
  constexpr int kEnd = 5;
  std::vector<std::thread> team;
  for (std::size_t i = 0; i < others; ++i) team.emplace_back([] { schedule::wait_for(kEnd); });
  team.emplace_back([] { schedule::at(2, [] { act({.lock = 0, .variable = 0, .writes = true}); }); });
  team.emplace_back([] {
    schedule::at(0, [] { touch(mutexes[1]); });
    schedule::at(3, [] {
      touch(mutexes[0]);
      touch(mutexes[2]);
    });
  });
  team.emplace_back([] {
    schedule::at(1, [] { touch(mutexes[1]); });
    schedule::at(4, [] { act({.lock = 2, .variable = 0}); });
  });
  for (std::thread& thread : team) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (std::strcmp(argv[1], "passed_on") == 0) {
    take_many_locks();
    pass_on(std::strtoull(argv[2], nullptr, 10));
    return 0;
  }
  std::mt19937_64 random(std::strtoull(argv[1], nullptr, 10));
  const std::size_t threads = std::strtoull(argv[2], nullptr, 10);
  const bool ends_with_race = argc > 3 && std::strcmp(argv[3], "race") == 0;
  take_many_locks();

  Order order(threads);
  for (std::size_t generation = 1; generation <= kGenerations; ++generation) {
    std::vector<Step> steps;
    order.start_all();
    while (steps.size() < kSteps) {
      const Step step = random_step(random, threads);
      if (order.add(step)) steps.push_back(step);
    }
    for (bool is_last = !ends_with_race || generation < kGenerations; !is_last;) {
      steps.push_back(random_step(random, threads));
      is_last = !order.add(steps.back());
    }
    order.join_all();
    const int before = static_cast<int>((generation - 1) * kSteps);
    std::vector<std::thread> team;
    for (std::size_t thread = 1; thread <= threads; ++thread)
      team.emplace_back([&steps, thread, before] { run(steps, thread, before); });
    for (std::thread& thread : team) thread.join();
  }
  std::puts("done");
}
