// Parallel loops and calls that carry their own specification: the program with this parallelism taken out
// and some freedom put in. (C++20; heddle/heddle.h includes this.)
//
//   heddle::parallel_for(0, n, [&](int i) { … });           // the iterations in any order, at the same time
//   heddle::parallel_for(images, [&](Image& image) { … });  // over the elements of a range
//   heddle::parallel_invoke([&] { … }, [&] { … });          // each once
//
//   if (HEDDLE_MAYBE) { … }               // it would be right, too, to leave this out
//   if (HEDDLE_MAYBE && bound >= best) …  // it would be right, too, to act as if this did not hold
//   if (HEDDLE_MAYBE_NOT) { … }           // never done; it would be right to do it
//
//   heddle::focus(best);                  // the result: what the specification is about
//
// All of them return when all iterations are done, so one after the other is what a barrier between them
// would be. (A std::barrier in a body is taken for that, too; but a sequential run cannot pass it, and heddle
// run --sequential says so.) They nest. An exception that leaves a body ends the loop: bodies that have not
// begun are left out, and the first exception is thrown to the caller.
//
// The specification is sequential: one iteration after the other, in any order, HEDDLE_MAYBE true or false at
// will. `heddle record` of a program built with heddle-clang++ --heddle-dataflow, and `heddle check
// --checkers ndseq`, decide whether a parallel run did what one of those runs does (docs/tutorials/ndseq.md).
// To run the specification itself, in the debugger for instance:
//
//   heddle run --sequential --seed 7 -- ./program      of a program built with heddle-clang++
//   HEDDLE_SEQUENTIAL=7 ./program                      the same; of any build, with HEDDLE_MAYBE always true
//   c++ -DHEDDLE_SEQUENTIAL …; HEDDLE_SEQUENTIAL=7 …   by any compiler, with HEDDLE_MAYBE at random
//
// In a normal build the marks are constants and nothing of Heddle is linked; HEDDLE_THREADS says how many
// threads work, as many as there are processors otherwise.
//
// The body of `if (HEDDLE_MAYBE)` is left at its end only, and has no else. After `HEDDLE_MAYBE && …` break,
// continue, return and else are fine: what may be left out is the condition alone.
#ifndef HEDDLE_PARALLEL_H
#define HEDDLE_PARALLEL_H

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <ranges>
#include <span>
#include <thread>
#include <type_traits>
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

  HEDDLE_UNCHECKED bool run_one(std::size_t index) {
#ifdef __HEDDLE__
    struct Task {
      explicit Task(std::size_t number) { heddle_begin_task(number); }
      Task(const Task&) = delete;
      Task& operator=(const Task&) = delete;
      ~Task() { heddle_end_task(); }
    };
#endif
    try {
#ifdef __HEDDLE__
      const Task task(index);
#endif
      iteration_(body_, index);
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
    static Pool pool;
    return pool;
  }

  void run(Work& work) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
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
  Pool() {
    for (std::size_t i = 1; i < thread_count(); ++i) threads_.emplace_back([this] { help(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    more_.notify_all();
    for (std::thread& thread : threads_) thread.join();
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

// Every one in an order of the seed's choice.
HEDDLE_UNCHECKED inline void run_in_sequence(Work::Iteration iteration, void* body, std::size_t count) {
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
    Pool::instance().run(work);
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

// body(begin), body(begin + 1), … body(end - 1)
template <class Begin, class End, class Body>
void parallel_for(Begin begin, End end, Body&& body) {
  static_assert(std::is_integral_v<Begin> && std::is_integral_v<End>,
                "parallel_for takes a range and a body, or two whole numbers and a body");
  using Index = std::common_type_t<Begin, End>;
  if (std::cmp_greater_equal(begin, end)) return;
  const auto first = static_cast<Index>(begin);
  const auto run = [&](std::size_t index) { body(static_cast<Index>(first + static_cast<Index>(index))); };
  detail::run_all(run, static_cast<std::size_t>(static_cast<Index>(end) - first));
}

// body(element) for each element of the range.
template <class Range, class Body>
void parallel_for(Range&& range, Body&& body) {
  static_assert(std::ranges::forward_range<Range>,
                "parallel_for takes a range and a body, or two whole numbers and a body");
  if constexpr (std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>) {
    const auto first = std::ranges::begin(range);
    using Distance = std::ranges::range_difference_t<Range>;
    const auto run = [&](std::size_t index) { body(first[static_cast<Distance>(index)]); };
    detail::run_all(run, static_cast<std::size_t>(std::ranges::size(range)));
  } else {
    std::vector<std::ranges::iterator_t<Range>> places;
    for (auto place = std::ranges::begin(range); place != std::ranges::end(range); ++place)
      places.push_back(place);
    const auto run = [&](std::size_t index) { body(*places[index]); };
    detail::run_all(run, places.size());
  }
}

// Each of the bodies once.
template <class... Bodies>
void parallel_invoke(Bodies&&... bodies) {
  const auto run = [&](std::size_t index) {
    std::size_t at = 0;
    ((at++ == index ? static_cast<void>(bodies()) : static_cast<void>(0)), ...);
  };
  detail::run_all(run, sizeof...(bodies), std::max(sizeof...(bodies), detail::thread_count()));
}

// Says that what the object holds when all is done is the result. Of arrays and ranges: what their elements
// hold.
template <class T>
void focus([[maybe_unused]] const T& object) {
#ifdef __HEDDLE__
  if constexpr (std::ranges::contiguous_range<const T&> && std::ranges::sized_range<const T&>) {
    using Element = std::ranges::range_value_t<const T&>;
    if constexpr (std::ranges::input_range<const Element&>) {
      for (const auto& element : object) focus(element);
    } else {
      if (std::ranges::size(object) > 0)
        heddle_focus(std::ranges::data(object), std::ranges::size(object) * sizeof(Element));
    }
  } else if constexpr (std::ranges::input_range<const T&>) {
    for (const auto& element : object) focus(element);
  } else {
    heddle_focus(const_cast<const void*>(static_cast<const volatile void*>(std::addressof(object))),
                 sizeof(T));
  }
#endif
}
// An object that is gone at the end of the statement holds no result.
template <class T>
void focus(const T&& object) = delete;
// The elements that it shows.
template <class T, std::size_t count>
void focus([[maybe_unused]] std::span<T, count> elements) {
#ifdef __HEDDLE__
  for (const T& element : elements) focus(element);
#endif
}

namespace detail {

#ifdef HEDDLE_HAS_MARKS

[[noreturn]] HEDDLE_UNCHECKED inline void refuse_mark(const char* file, int line, const char* mark) {
  std::fprintf(
      stderr,
      "heddle: %s:%d: %s outside a parallel construct: it says what the sequential version of a\n"
      "heddle: heddle::parallel_for or parallel_invoke may leave out, and belongs into a body of one\n",
      file, line, mark);
  std::fflush(stderr);
  std::_Exit(2);
}

[[gnu::always_inline]] inline void check_mark(const char* file, int line, const char* mark) {
  if (is_outside()) refuse_mark(file, line, mark);
}

// What HEDDLE_MAYBE begins. As the whole condition it lasts until the body is over; before && it is asked for
// its truth, and lasts until the condition is.
class MaybeBegin {
 public:
  [[gnu::always_inline]] MaybeBegin(const char* file, int line) { check_mark(file, line, "HEDDLE_MAYBE"); }
  [[gnu::always_inline]] explicit operator bool() const {
    if (Sequential::is_on()) return Sequential::below(2) == 0;
#ifdef __HEDDLE__
    heddle_begin_maybe();
#endif
    return true;
  }
};

class Maybe {
 public:
  Maybe() = default;
  Maybe(const Maybe&) = delete;
  Maybe& operator=(const Maybe&) = delete;

  // if (HEDDLE_MAYBE)
  [[gnu::always_inline]] bool operator<<=(const MaybeBegin& begin) {
    return is_open_ = static_cast<bool>(begin);
  }
  // if (HEDDLE_MAYBE && condition)
  [[gnu::always_inline]] bool operator<<=(bool condition) {
#ifdef __HEDDLE__
    return Sequential::is_on() ? condition : heddle_end_condition(condition);
#else
    return condition;
#endif
  }
  [[gnu::always_inline]] ~Maybe() {
#ifdef __HEDDLE__
    if (!is_open_ || Sequential::is_on()) return;
    if (std::uncaught_exceptions() > exceptions_) say_that_it_was_left();
    heddle_end_maybe();
#endif
  }

 private:
#ifdef __HEDDLE__
  HEDDLE_UNCHECKED static void say_that_it_was_left() {
    std::fputs(
        "heddle: an exception leaves the body of if (HEDDLE_MAYBE): the sequential version may leave the\n"
        "heddle: body out, and then there is none; what ndseq says about this run may be wrong\n",
        stderr);
  }

  int exceptions_ = std::uncaught_exceptions();  // on their way when it began
#endif
  bool is_open_ = false;
};

[[gnu::always_inline]] inline bool maybe_not(const char* file, int line) {
  check_mark(file, line, "HEDDLE_MAYBE_NOT");
  return Sequential::is_on() && Sequential::below(2) == 0;
}

#endif

}  // namespace detail
}  // namespace heddle

// An operator that binds less than &&: it gets the whole condition, or HEDDLE_MAYBE itself.
#ifdef HEDDLE_HAS_MARKS
#define HEDDLE_MAYBE_NAMED_(name) \
  ::heddle::detail::Maybe name{}; \
  name <<= ::heddle::detail::MaybeBegin(__FILE__, __LINE__)
#define HEDDLE_MAYBE_NUMBERED_(number) HEDDLE_MAYBE_NAMED_(heddle_maybe_##number)
#define HEDDLE_MAYBE_AT_(number) HEDDLE_MAYBE_NUMBERED_(number)
// The compiler shows this line where the mark stands somewhere else.
#define HEDDLE_MAYBE HEDDLE_MAYBE_AT_(__LINE__)  // stands first in the condition of an if, nowhere else
#define HEDDLE_MAYBE_NOT ::heddle::detail::maybe_not(__FILE__, __LINE__)
#else
#define HEDDLE_MAYBE true
#define HEDDLE_MAYBE_NOT false
#endif

#endif
