// How the loops of heddle/parallel.h get their work done: on threads, or one after the other.
#ifndef HEDDLE_PARALLEL_WORK_H
#define HEDDLE_PARALLEL_WORK_H

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#if defined(__HEDDLE__) || defined(HEDDLE_SEQUENTIAL)
#define HEDDLE_HAS_MARKS 1
#endif

#ifdef __HEDDLE__
/* As the runtime knows it (runtime/flow.h). */
extern "C" {
void heddle_begin_construct(void);
void heddle_end_construct(void);
void heddle_begin_task(std::uint64_t index);
void heddle_end_task(void);
void heddle_begin_maybe(void);
void heddle_end_maybe(void);
void heddle_leave_maybe(void);
bool heddle_end_condition(bool value);
void heddle_focus(const void* memory, std::size_t size);
}
/* Who runs what when is no doing of the program's. */
#define HEDDLE_UNCHECKED [[gnu::noinline]] __attribute__((disable_sanitizer_instrumentation))
#else
#define HEDDLE_UNCHECKED
#endif

namespace heddle {
namespace detail {

// The seed that HEDDLE_SEQUENTIAL asks for.
class Sequential {
 public:
  HEDDLE_UNCHECKED static bool is_on() { return instance().is_on_; }

  // A number below `bound`: SplitMix64, the same everywhere.
  HEDDLE_UNCHECKED static std::size_t below(std::size_t bound) {
    std::uint64_t mixed = instance().state_ += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ mixed >> 30U) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ mixed >> 27U) * 0x94D049BB133111EBU;
    return static_cast<std::size_t>((mixed ^ mixed >> 31U) % bound);
  }

 private:
  Sequential() {
    const char* const seed = std::getenv("HEDDLE_SEQUENTIAL");
    if (seed == nullptr || *seed == 0) return;
    is_on_ = true;
    state_ = std::strtoull(seed, nullptr, 0);
  }
  HEDDLE_UNCHECKED static Sequential& instance() {
    static Sequential one;
    return one;
  }

  bool is_on_ = false;
  std::uint64_t state_ = 0;
};

// How many threads work on a loop. One alone would show nothing to a checker.
inline std::size_t thread_count() {
  static const std::size_t count = [] {
    const char* const wanted = std::getenv("HEDDLE_THREADS");
    if (const std::size_t number = wanted == nullptr ? 0 : std::strtoull(wanted, nullptr, 10); number > 0)
      return std::min<std::size_t>(number, 1024);
#ifdef __HEDDLE__
    constexpr std::size_t kLeast = 4;
#else
    constexpr std::size_t kLeast = 1;
#endif
    return std::max<std::size_t>(kLeast, std::thread::hardware_concurrency());
  }();
  return count;
}

// The iterations of one loop, and who still works on them.
class Work {
 public:
  using Iteration = void (*)(void* body, std::size_t index);

  Work(Iteration iteration, void* body, std::size_t count, std::size_t at_once)
      : iteration_(iteration), body_(body), count_(count), at_once_(at_once) {}

  // Runs iterations until none is left.
  HEDDLE_UNCHECKED void run() {
    std::size_t first;
    while ((first = claim()) < count_) {
      const std::size_t last = std::min(first + at_once_, count_);
      for (std::size_t index = first; index < last; ++index)
        if (!run_one(index)) return;
    }
  }

  HEDDLE_UNCHECKED bool has_more() { return __atomic_load_n(&next_, __ATOMIC_RELAXED) < count_; }
  HEDDLE_UNCHECKED void rethrow() {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  friend class Pool;

  HEDDLE_UNCHECKED std::size_t claim() { return __atomic_fetch_add(&next_, at_once_, __ATOMIC_RELAXED); }
  HEDDLE_UNCHECKED void stop() { __atomic_store_n(&next_, count_, __ATOMIC_RELAXED); }
  // The first one gets to say what went wrong.
  HEDDLE_UNCHECKED bool is_first_error() { return !__atomic_exchange_n(&has_error_, true, __ATOMIC_RELAXED); }

#ifdef __HEDDLE__
  struct Task {
    explicit Task(std::size_t number) { heddle_begin_task(number); }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() { heddle_end_task(); }
  };

  // Checked like the program's own code: an iteration is run because none has thrown before. So one that
  // throws comes after all that were run, and no two do.
  [[gnu::noinline]] static void run_checked(bool* an_iteration_threw, Iteration iteration, void* body,
                                            std::size_t index) {
    if (__atomic_load_n(an_iteration_threw, __ATOMIC_RELAXED)) return;
    try {
      iteration(body, index);
    } catch (...) {
      __atomic_store_n(an_iteration_threw, true, __ATOMIC_RELAXED);
      throw;
    }
  }
#endif

  HEDDLE_UNCHECKED bool run_one(std::size_t index) {
    try {
#ifdef __HEDDLE__
      const Task task(index);
      run_checked(&an_iteration_threw_, iteration_, body_, index);
#else
      iteration_(body_, index);
#endif
      return true;
    } catch (...) {
      stop();
      if (is_first_error()) error_ = std::current_exception();
      return false;
    }
  }

  Iteration iteration_;
  void* body_;
  std::size_t count_;
  std::size_t at_once_;  // iterations that a thread takes
  std::size_t next_ = 0;
#ifdef __HEDDLE__
  bool an_iteration_threw_ = false;
#endif
  bool has_error_ = false;
  std::exception_ptr error_;
  std::size_t helpers_ = 0;  // of the pool; under its mutex
  Work* before_ = nullptr;   // in the pool's list
};

// Threads that help whoever has a loop to run. The one who has it works, too, and waits only for helpers that
// are at its own iterations: a loop inside a loop cannot wait for itself.
class Pool {
 public:
  static Pool& instance() {
    // A body may call exit: nobody waits for the rest of its loop then, least of all a thread for itself.
    struct Keeper {
      Pool* const pool = new Pool;
      Keeper() = default;
      Keeper(const Keeper&) = delete;
      Keeper& operator=(const Keeper&) = delete;
      ~Keeper() {
        if (pool->is_idle()) delete pool;
      }
    };
    static const Keeper keeper;
    return *keeper.pool;
  }

  // `threads`: that there should be, so that the bodies of parallel_invoke can wait for each other.
  void run(Work& work, std::size_t threads) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      while (threads_.size() + 1 < threads) threads_.emplace_back([this] { help(); });
      work.before_ = newest_;
      newest_ = &work;
    }
    more_.notify_all();
    work.run();
    std::unique_lock<std::mutex> lock(mutex_);
    Work** link = &newest_;
    while (*link != &work) link = &(*link)->before_;
    *link = work.before_;
    fewer_.wait(lock, [&] { return work.helpers_ == 0; });
  }

 private:
  Pool() = default;
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    more_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool is_idle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return newest_ == nullptr;
  }

  void help() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      Work* work = newest_;
      while (work != nullptr && !work->has_more()) work = work->before_;
      if (work == nullptr) {
        if (is_over_) return;
        more_.wait(lock);
        continue;
      }
      ++work->helpers_;
      lock.unlock();
      work->run();
      lock.lock();
      if (--work->helpers_ == 0) fewer_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable more_;   // work
  std::condition_variable fewer_;  // helpers
  Work* newest_ = nullptr;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

inline int open_constructs = 0;  // that the process is in

HEDDLE_UNCHECKED inline bool is_outside() { return __atomic_load_n(&open_constructs, __ATOMIC_RELAXED) == 0; }

struct Construct {
  [[gnu::always_inline]] Construct() {
#ifdef __HEDDLE__
    heddle_begin_construct();
#endif
    count(1);
  }
  Construct(const Construct&) = delete;
  Construct& operator=(const Construct&) = delete;
  [[gnu::always_inline]] ~Construct() {
    count(-1);
#ifdef __HEDDLE__
    heddle_end_construct();
#endif
  }

 private:
  HEDDLE_UNCHECKED static void count(int more) {
    __atomic_fetch_add(&open_constructs, more, __ATOMIC_RELAXED);
  }
};

// The numbers below `count`, each once, in an order of the seed's choice; for so many that a list of them
// would not do. They are turned into one another by a Feistel network on the least even number of bits that
// has room for them, as often as it takes to be below.
class ManyInAnyOrder {
 public:
  HEDDLE_UNCHECKED explicit ManyInAnyOrder(std::size_t count)
      : count_(count), half_(static_cast<int>(std::bit_width(count - 1) + 1) / 2) {
    for (std::size_t& key : keys_) key = Sequential::below(~std::size_t{0});
  }

  HEDDLE_UNCHECKED std::size_t at(std::size_t place) const {
    do {
      place = turned(place);
    } while (place >= count_);
    return place;
  }

 private:
  HEDDLE_UNCHECKED std::size_t turned(std::size_t place) const {
    const std::size_t mask = (std::size_t{1} << half_) - 1;
    std::size_t high = place >> half_;
    std::size_t low = place & mask;
    for (const std::size_t key : keys_) {
      const std::size_t mixed = (low ^ key) * 0x9E3779B97F4A7C15U;
      high ^= (mixed ^ mixed >> 29U) * 0xBF58476D1CE4E5B9U >> 32U & mask;
      std::swap(high, low);
    }
    return high << half_ | low;
  }

  std::size_t count_;
  int half_;
  std::size_t keys_[4];
};

// Every one in an order of the seed's choice.
HEDDLE_UNCHECKED inline void run_in_sequence(Work::Iteration iteration, void* body, std::size_t count) {
  constexpr std::size_t kMostListed = std::size_t{1} << 20;
  if (count > kMostListed) {
    const ManyInAnyOrder order(count);
    for (std::size_t place = 0; place < count; ++place) iteration(body, order.at(place));
    return;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left) std::swap(order[left - 1], order[Sequential::below(left)]);
  for (const std::size_t index : order) iteration(body, index);
}

// A checker sees what belongs to the loop by the threads that are forked and joined inside; a normal build
// keeps its threads.
HEDDLE_UNCHECKED inline void run_in_parallel(Work& work, std::size_t count,
                                             [[maybe_unused]] std::size_t threads) {
#ifdef __HEDDLE__
  struct Team {
    std::vector<std::thread> members;
    ~Team() {
      for (std::thread& member : members) member.join();
    }
  };
  Team team;
  for (std::size_t i = 1; i < std::min(count, threads); ++i)
    team.members.emplace_back([&work] { work.run(); });
  work.run();
#else
  if (count > 1 && threads > 1) {
    Pool::instance().run(work, std::min(count, threads));
  } else {
    work.run();
  }
#endif
}

inline void run_all(Work::Iteration iteration, void* body, std::size_t count, std::size_t threads) {
  if (count == 0) return;
#ifdef HEDDLE_HAS_MARKS
  const Construct construct;
#endif
  if (Sequential::is_on()) return run_in_sequence(iteration, body, count);
#ifdef __HEDDLE__
  const std::size_t at_once = 1;
#else
  const std::size_t at_once = std::max<std::size_t>(1, count / (8 * threads));
#endif
  Work work(iteration, body, count, at_once);
  run_in_parallel(work, count, threads);
  work.rethrow();
}

template <class Body>
[[gnu::noinline]] void call_body(void* body, std::size_t index) {
  (*static_cast<Body*>(body))(index);
}
template <class Body>
void run_all(Body& body, std::size_t count, std::size_t threads = thread_count()) {
  run_all(&call_body<Body>, const_cast<void*>(static_cast<const void*>(std::addressof(body))), count,
          threads);
}

}  // namespace detail

}  // namespace heddle

#endif
