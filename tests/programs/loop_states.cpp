// Loops over the same pages by several threads, in an order that is forced on them: whole pages and parts of
// them, each element or one of a few, forwards and backwards; and between the loops single accesses of all
// sizes, atomic ones, memory that is given back, locks. The seed decides what, and so whether the last step
// is ordered after all others. Prints which by its own count, byte by byte, of what each thread knows of the
// others: "clean", or "race" and who may be said to be in race with whom, and where.
#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "schedule.h"

namespace {

constexpr int kMostThreads = 4;
constexpr std::size_t kSteps = 160;
constexpr int kCommon = kMostThreads;  // the lock that all take; the others are one thread's each

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = 3 * kPage;                                   // of a piece of memory, at most
constexpr std::array<std::size_t, 4> kSizes = {kBytes, 1000, 9000, 40000};  // the first is no heap memory
constexpr std::size_t kPieces = kSizes.size();

alignas(kPage) char fixed_memory[kBytes + kPage];
std::array<std::mutex, kMostThreads + 1> mutexes;
// Where they are now. That is passed on in the order that is forced on the threads, unseen like that.
std::array<char*, kPieces> pieces;
#define UNSEEN [[gnu::noinline]] __attribute__((disable_sanitizer_instrumentation))
UNSEEN char* piece_now(std::size_t piece) { return pieces[piece]; }
UNSEEN void set_piece(std::size_t piece, char* memory) { pieces[piece] = memory; }

enum class Does : uint8_t { kRead, kWrite, kAtomicRead, kAtomicWrite, kFree, kLock };
struct Step {
  int thread = 0;
  Does does = Does::kLock;
  int lock = 0;
  bool is_long = false;  // the thread takes the lock again and again, and writes a variable of its own
  // Accesses: `count` times `size` bytes, each `distance` after the one before.
  std::size_t piece = 0;
  std::size_t first = 0;
  std::size_t count = 1;
  std::size_t size = 8;
  std::size_t distance = 8;
  bool is_backwards = false;
};

bool writes(Does does) { return does == Does::kWrite || does == Does::kAtomicWrite || does == Does::kFree; }
bool is_atomic(Does does) { return does == Does::kAtomicRead || does == Does::kAtomicWrite; }
const char* verb(Does does) {
  switch (does) {
    case Does::kRead: return "read";
    case Does::kAtomicRead: return "loaded atomic";
    case Does::kAtomicWrite: return "stored atomic";
    case Does::kFree: return "freed";
    default: return "wrote";
  }
}

// Who does what, and in which function below.
std::string in_words(const Step& step) {
  std::string text = "T" + std::to_string(step.thread + 1) + " " + verb(step.does);
  if (step.does == Does::kFree) return text + " in act";
  if (step.count == 1) return text + " in access";
  text += step.does == Does::kWrite ? " in write_" : " in read_";
  if (step.size == 16) return text + "two_of_three";
  return text + "each<" + std::to_string(step.distance) + "ul, " + (step.is_backwards ? "true>" : "false>");
}

using Bytes = std::bitset<kSizes.back()>;
Bytes bytes_of(const Step& step) {
  Bytes bytes;
  if (step.does == Does::kLock) return bytes;
  if (step.does == Does::kFree) {
    for (std::size_t i = 0; i < kSizes[step.piece]; ++i) bytes.set(i);
    return bytes;
  }
  for (std::size_t i = 0; i < step.count; ++i)
    for (std::size_t byte = 0; byte < step.size; ++byte) bytes.set(step.first + i * step.distance + byte);
  return bytes;
}

// What happens, and what each thread knows of the others' steps by then.
class Plan {
 public:
  explicit Plan(unsigned seed) : offset_(seed % 64 * 8), random_(seed) {
    for (int i = 0; i < 10; ++i) random_();
    threads_ = 2 + static_cast<int>(below(kMostThreads - 1));
    const std::size_t seldom = below(2) == 0 ? 2 : 12;  // they meet
    heap_ = below(3) == 0 ? 1 : 4;                      // one in so many is on the heap, or anywhere
    singles_ = below(3) == 0 ? 2 : 8;                   // one in so many is no loop
    while (steps_.size() < kSteps) {
      const int thread = static_cast<int>(below(threads_));
      if (below(12) == 0) {
        meet();
      } else {
        lock(thread, below(seldom) == 0 ? static_cast<int>(below(threads_ + 1)) : thread);
      }
      for (std::size_t tries = below(4); tries > 0; --tries) {
        const Step next = any_access(thread);
        if (races_with(next).empty()) add(next);
      }
    }
    if (seed % 2 == 1) {
      // What is known of memory is looked through meanwhile, and what it need not refer to is used for
      // others.
      for (int i = 0; i < 2 * threads_; ++i) {
        lock(i % threads_, i % threads_);
        steps_.back().is_long = true;
      }
    }
    const bool is_to_race = below(2) == 0;
    if (below(3) != 0) singles_ = 1;  // that one element is wrong is seen best by one that accesses no other
    Step last = {};
    for (int tries = 0; tries == 0 || (tries < 300 && races_.empty() == is_to_race); ++tries) {
      last = any_access(static_cast<int>(below(threads_)));
      races_ = races_with(last);
    }
    if (!is_to_race && !races_.empty()) {
      races_.clear();
      return;
    }
    add(last);
  }

  std::size_t offset() const { return offset_; }
  int threads() const { return threads_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::set<std::string>& races() const { return races_; }

 private:
  using Known = std::array<std::size_t, kMostThreads>;  // of each thread: up to which step

  std::size_t below(std::size_t limit) { return random_() % limit; }

  void add(const Step& step) {
    if (step.does == Does::kFree)
      for (std::size_t i = 0; i < steps_.size(); ++i)
        if (steps_[i].piece == step.piece) bytes_[i].reset();  // what was there is no more
    steps_.push_back(step);
    bytes_.push_back(step.does == Does::kFree ? Bytes() : bytes_of(step));
  }

  void lock(int thread, int lock) {
    Known& mine = known_.at(thread);
    Known& left = left_.at(lock);
    for (int other = 0; other < threads_; ++other) mine.at(other) = std::max(mine.at(other), left.at(other));
    mine.at(thread) = steps_.size();
    left = mine;
    add({.thread = thread, .lock = lock});
  }
  // All of them, as at a barrier.
  void meet() {
    for (int times = 0; times < 2; ++times)
      for (int thread = 0; thread < threads_; ++thread) lock(thread, kCommon);
  }

  Step any_access(int thread) {
    Step step{.thread = thread};
    step.piece = below(heap_) == 0 ? below(kPieces) : 0;
    const std::size_t all = kSizes[step.piece];
    step.does = below(2) == 0 ? Does::kWrite : Does::kRead;
    if (step.piece != 0 && below(8) == 0) {
      step.does = Does::kFree;
      return step;
    }
    if (below(singles_) == 0) {
      constexpr std::array<std::size_t, 4> kSingles = {1, 4, 8, 8};
      step.size = step.distance = kSingles[below(kSingles.size())];
      step.first = below(all / step.size) * step.size;
      if (below(3) != 0) go_to_an_end(step);
      if (step.size == 8 && below(3) == 0)
        step.does = step.does == Does::kRead ? Does::kAtomicRead : Does::kAtomicWrite;
      return step;
    }
    constexpr std::array<std::size_t, 7> kDistances = {8, 8, 16, 16, 24, 32, 56};
    step.distance = kDistances[below(kDistances.size())];
    step.size = step.distance == 24 && below(2) == 0 ? 16 : 8;
    step.is_backwards = step.distance <= 16 && below(4) == 0;
    // Mostly what others have gone over, too: whole pages, or from one of a few places.
    const std::size_t starts = all / 8 - 8;
    step.first = 8 * (below(2) == 0 ? below(2) : below(3) == 0 ? below(starts) : below(8) * (starts / 8));
    const std::size_t most = (all - step.first - step.size) / step.distance + 1;
    step.count = below(3) == 0 ? 1 + below(most) : below(2) == 0 ? most : std::min<std::size_t>(most, 200);
    return step;
  }

  // To the first or last element of an earlier loop, or of a page that it goes over, or the one beyond, or
  // any.
  void go_to_an_end(Step& single) {
    const Step& loop = steps_[below(steps_.size())];
    if (loop.does == Does::kLock || loop.does == Does::kFree) return;
    std::size_t element = below(2) == 0 ? below(loop.count) : below(2) * (loop.count - 1);
    if (below(3) == 0) {
      // The fixed memory begins so far into a page.
      const std::size_t page = (loop.first + below(loop.count) * loop.distance + offset_) / kPage;
      if (page * kPage < loop.first + offset_) return;
      element = (page * kPage - loop.first - offset_) / loop.distance + below(2);
    }
    const std::size_t at = loop.first + element * loop.distance + (below(4) == 0 ? 8 : 0);
    if (at + single.size > kSizes[loop.piece] || at % single.size != 0) return;
    single.piece = loop.piece;
    single.first = at;
  }

  // Earlier steps that the next one would be in race with, in words.
  std::set<std::string> races_with(const Step& next) const {
    std::set<std::string> found;
    const Bytes mine = bytes_of(next);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (step.does == Does::kLock || step.thread == next.thread || step.piece != next.piece) continue;
      if ((!writes(step.does) && !writes(next.does)) || (is_atomic(step.does) && is_atomic(next.does)))
        continue;
      if (i < known_.at(next.thread).at(step.thread) || (bytes_[i] & mine).none()) continue;
      found.insert(in_words(step) + "; " + in_words(next));
    }
    return found;
  }

  std::size_t offset_;  // of the fixed memory in a page
  std::minstd_rand random_;
  int threads_ = 0;
  std::size_t heap_ = 0;
  std::size_t singles_ = 0;
  std::vector<Step> steps_;
  std::vector<Bytes> bytes_;
  std::array<Known, kMostThreads> known_ = {};
  std::array<Known, kMostThreads + 1> left_ = {};  // by who last had the lock
  std::set<std::string> races_;
};

// The loops. How far they go is not known when they are compiled, only how far apart their accesses are.
template <std::size_t distance, bool is_backwards>
[[gnu::noinline]] void write_each(char* from, std::size_t count) {
  if constexpr (is_backwards) {
    for (std::size_t i = count; i-- > 0;) *reinterpret_cast<std::size_t*>(from + i * distance) = i;
  } else {
    for (std::size_t i = 0; i < count; ++i) *reinterpret_cast<std::size_t*>(from + i * distance) = i;
  }
}
template <std::size_t distance, bool is_backwards>
[[gnu::noinline]] std::size_t read_each(const char* from, std::size_t count) {
  std::size_t sum = 0;
  if constexpr (is_backwards) {
    for (std::size_t i = count; i-- > 0;) sum += *reinterpret_cast<const std::size_t*>(from + i * distance);
  } else {
    for (std::size_t i = 0; i < count; ++i) sum += *reinterpret_cast<const std::size_t*>(from + i * distance);
  }
  return sum;
}
struct Three {
  std::size_t first, second, third;
};
[[gnu::noinline]] void write_two_of_three(Three* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) from[i].first = from[i].second = i;
}
[[gnu::noinline]] std::size_t read_two_of_three(const Three* from, std::size_t count) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += from[i].first ^ from[i].second;
  return sum;
}

template <std::size_t distance, bool is_backwards = false>
void go_over(const Step& step, char* from) {
  if (step.does == Does::kWrite) return write_each<distance, is_backwards>(from, step.count);
  const std::size_t sum = read_each<distance, is_backwards>(from, step.count);
  asm volatile("" : : "r"(sum));
}
void go_over_two_of_three(const Step& step, char* from) {
  auto* const elements = reinterpret_cast<Three*>(from);
  if (step.does == Does::kWrite) return write_two_of_three(elements, step.count);
  const std::size_t sum = read_two_of_three(elements, step.count);
  asm volatile("" : : "r"(sum));
}

template <class T>
void access_one(const Step& step, char* at) {
  auto& place = *reinterpret_cast<T*>(at);
  switch (step.does) {
    case Does::kWrite: *const_cast<volatile T*>(&place) = 1; break;
    case Does::kRead: static_cast<void>(*const_cast<volatile T*>(&place)); break;
    case Does::kAtomicWrite: __atomic_store_n(&place, T{1}, __ATOMIC_RELAXED); break;
    default: static_cast<void>(__atomic_load_n(&place, __ATOMIC_RELAXED)); break;
  }
}

void access(const Step& step) {
  char* const from = piece_now(step.piece) + step.first;
  if (step.count == 1) {
    switch (step.size) {
      case 1: return access_one<uint8_t>(step, from);
      case 4: return access_one<uint32_t>(step, from);
      case 8: return access_one<std::size_t>(step, from);
      default: break;
    }
  }
  switch (step.distance) {
    case 8: return step.is_backwards ? go_over<8, true>(step, from) : go_over<8>(step, from);
    case 16: return step.is_backwards ? go_over<16, true>(step, from) : go_over<16>(step, from);
    case 24: return step.size == 16 ? go_over_two_of_three(step, from) : go_over<24>(step, from);
    case 32: return go_over<32>(step, from);
    case 56: return go_over<56>(step, from);
    default: std::abort();
  }
}

void act(const Step& step) {
  if (step.does == Does::kLock) {
    static std::array<long, kMostThreads> own;
    constexpr int kLong = 130;
    for (int times = step.is_long ? kLong : 1; times > 0; --times) {
      mutexes.at(step.lock).lock();
      mutexes.at(step.lock).unlock();
      if (step.is_long) *const_cast<volatile long*>(&own.at(step.thread)) = times;
    }
  } else if (step.does == Does::kFree) {
    std::free(piece_now(step.piece));
    set_piece(step.piece, static_cast<char*>(std::malloc(kSizes[step.piece])));
  } else {
    access(step);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  const Plan plan(seed);
  pieces[0] = fixed_memory + plan.offset();
  for (std::size_t i = 1; i < kPieces; ++i) pieces[i] = static_cast<char*>(std::malloc(kSizes[i]));
  if (plan.races().empty()) std::puts("clean");
  for (const std::string& race : plan.races()) std::printf("race %s\n", race.c_str());
  std::fflush(stdout);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < plan.threads(); ++thread)
    threads.emplace_back([&plan, thread] {
      int turn = 0;
      for (const Step& step : plan.steps()) {
        if (step.thread == thread) schedule::at(turn, [&] { act(step); });
        ++turn;
      }
    });
  for (std::thread& thread : threads) thread.join();
}
