// What the benchmark programs share: the command line, a team of threads with equal shares of the work,
// random numbers that are the same on every machine, and the checks that decide between exit code 0 and 1.
//
//   NAME [threads] [size] [broken]   2 threads unless told; size is a number, or `small` for slow tools;
//                                    `broken`: with the bug that the program is known for, where it has one
#pragma once

#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace kernel {

// What a program's size means is said at its top.
struct Sizes {
  std::size_t normal;  // a fair part of a second with 2 threads, built with -O2
  std::size_t small;   // about a fiftieth of that work, for tools as slow as Helgrind
};

enum class Bug : bool { kNone, kKnown };

// One run: what it is asked for, and the verdict on the result. Used by one thread alone.
class Program {
 public:
  // What the command line asks for. `bug` says whether there is one to ask for.
  Program(std::string name, int argc, char** argv, Sizes sizes, Bug bug = Bug::kNone)
      : name_(std::move(name)), bug_(bug), size_(sizes.normal) {
    if (argc > (bug == Bug::kKnown ? 4 : 3)) exit_with_usage();
    if (argc > 1) threads_ = parse(argv[1]);
    if (argc > 2) size_ = std::strcmp(argv[2], "small") == 0 ? sizes.small : parse(argv[2]);
    if (argc > 3) {
      if (std::strcmp(argv[3], "broken") != 0) exit_with_usage();
      is_broken_ = true;
    }
  }
  // A part of another program.
  Program(std::string name, std::size_t threads, std::size_t size)
      : name_(std::move(name)), threads_(threads), size_(size) {}

  std::size_t threads() const { return threads_; }
  std::size_t size() const { return size_; }
  bool is_broken() const { return is_broken_; }

  // Ends the program with exit code 1 and `complaint` when the result is wrong.
  void check(bool right, const std::string& complaint) const {
    if (right) return;
    std::fprintf(stderr, "%s: wrong result: %s\n", name_.c_str(), complaint.c_str());
    std::exit(1);
  }

  void check_equal(const char* what, uint64_t actual, uint64_t expected) const {
    check(actual == expected,
          std::string(what) + " is " + std::to_string(actual) + ", should be " + std::to_string(expected));
  }

  // Not a number is never close.
  void check_close(const char* what, double actual, double expected, double tolerance) const {
    char complaint[200];
    std::snprintf(complaint, sizeof complaint, "%s is %.17g, should be %.17g within %.3g", what, actual,
                  expected, tolerance);
    check(std::abs(actual - expected) <= tolerance, complaint);
  }

 private:
  [[noreturn]] void exit_with_usage() const {
    std::fprintf(stderr, "usage: %s [threads] [size]%s   threads from 1; size from 1, or `small`\n",
                 name_.c_str(), bug_ == Bug::kKnown ? " [broken]" : "");
    std::exit(2);
  }

  std::size_t parse(std::string_view text) const {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number == 0) exit_with_usage();
    return number;
  }

  std::string name_;
  Bug bug_ = Bug::kNone;
  std::size_t threads_ = 2;
  std::size_t size_;
  bool is_broken_ = false;
};

// What printf would print.
[[gnu::format(printf, 1, 2)]] inline std::string format(const char* pattern, ...) {
  char text[300];
  std::va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

// Runs body(0) … body(threads - 1), each in a thread of its own, and returns when all have ended.
template <typename Body>
void run_team(std::size_t threads, Body body) {
  std::vector<std::thread> team;
  team.reserve(threads);
  for (std::size_t thread = 0; thread < threads; ++thread) team.emplace_back(std::ref(body), thread);
  for (std::thread& member : team) member.join();
}

// The indices from begin up to, not including, end.
struct Range {
  std::size_t begin;
  std::size_t end;
};

// The part of the indices below `count` that belongs to `thread`: contiguous, and equal up to one index.
inline Range share_of(std::size_t count, std::size_t threads, std::size_t thread) {
  return {count * thread / threads, count * (thread + 1) / threads};
}

// Pseudo-random numbers (SplitMix64): every seed has its own sequence.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
    return mixed ^ mixed >> 31;
  }

  // A whole number below `bound`, which is not 0; the bias for the small bounds used here is negligible.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

  // A real number from 0 up to, not including, 1.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace kernel

// The main of a program whose work is `std::string kernel::NAME::run(const Program&)`, which returns what is
// to be said about it; unless the file is a part of another program (queue_jg.cpp, queue_mm.cpp).
#ifdef KERNEL_IS_PART
#define KERNEL_MAIN(name, bug) static_assert(true)
#else
#define KERNEL_MAIN(name, bug)                                                                  \
  int main(int argc, char** argv) {                                                             \
    const std::string said = kernel::name::run({#name, argc, argv, kernel::name::kSizes, bug}); \
    std::printf("%s: %s\n", #name, said.c_str());                                               \
    return 0;                                                                                   \
  }                                                                                             \
  static_assert(true)
#endif
