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
// would be. (A std::barrier in a body is taken for that, too, and the bodies of a parallel_invoke that is in
// no other loop can meet there; but a sequential run cannot pass it, and heddle run --sequential says so.)
// They nest. An exception that leaves a body ends the loop: bodies that have not begun are left out, and the
// first exception is thrown to the caller.
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
// continue, return and else are fine: what may be left out is the condition alone. An exception, or
// longjmp, that leaves either makes it one that cannot be left out. Out of an iteration longjmp has no way.
#ifndef HEDDLE_PARALLEL_H
#define HEDDLE_PARALLEL_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel_work.h"

namespace heddle {

// body(begin), body(begin + 1), … body(end - 1)
template <class Begin, class End, class Body>
void parallel_for(Begin begin, End end, Body&& body) {
  static_assert(std::is_integral_v<Begin> && std::is_integral_v<End>,
                "parallel_for takes a range and a body, or two whole numbers and a body");
  using Index = std::common_type_t<Begin, End>;
  // Characters are no numbers to cmp_greater_equal, but what + makes of them is.
  if (std::cmp_greater_equal(+begin, +end)) return;
  // What is unsigned goes round where a difference of two numbers is too large for their type.
  const auto first = static_cast<std::size_t>(begin);
  const auto run = [&](std::size_t index) { body(static_cast<Index>(first + index)); };
  detail::run_all(run, static_cast<std::size_t>(end) - first);
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
// (Inlined, so that what lies below the function that says so is what other functions have left.)
template <class T>
[[gnu::always_inline]] inline void focus([[maybe_unused]] const T& object) {
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
  MaybeBegin(const MaybeBegin&) = delete;
  MaybeBegin& operator=(const MaybeBegin&) = delete;
  [[gnu::always_inline]] explicit operator bool() const {
    if (Sequential::is_on()) return Sequential::below(2) == 0;
#ifdef __HEDDLE__
    heddle_begin_maybe();
#endif
    return true;
  }
#ifdef __HEDDLE__
  // The condition may throw before it is over.
  [[gnu::always_inline]] ~MaybeBegin() {
    if (std::uncaught_exceptions() > exceptions_ && !Sequential::is_on()) heddle_leave_maybe();
  }

 private:
  int exceptions_ = std::uncaught_exceptions();  // on their way when it began
#endif
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
    if (std::uncaught_exceptions() > exceptions_) {
      heddle_leave_maybe();
    } else {
      heddle_end_maybe();
    }
#endif
  }

 private:
#ifdef __HEDDLE__
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
