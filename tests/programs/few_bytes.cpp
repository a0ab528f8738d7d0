// Three threads access parts of a few cells of memory in a random order that is forced: bytes, whole cells
// and all between, wherever they lie. Now and then one takes a mutex. What would be in race is left out, by
// the definition, except in the end, where the program knows which it is.
//
//   few_bytes SEED        does it
//   few_bytes SEED say    only says what a checker must say: "race" or "clean"
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "schedule.h"

namespace {

constexpr int kThreads = 3;
constexpr std::size_t kBytes = 64;
constexpr std::size_t kSteps = 1500;
constexpr int kLast = 12;  // accesses

alignas(64) char memory[kBytes];
std::mutex mutexes[2];

struct Step {
  int thread;
  int mutex;  // -1: it is an access
  int last;   // which of the last accesses it is; -1: none
  std::size_t offset;
  std::size_t size;
  bool writes;
};

// By the definition: per byte, each thread's last read and write, and what each thread knows of the others.
class Model {
 public:
  // How many earlier accesses, by byte and thread, the access is in race with.
  int races(const Step& step) const {
    int count = 0;
    for (std::size_t i = step.offset; i < step.offset + step.size; ++i)
      for (int other = 0; other < kThreads; ++other) {
        const int known = known_[step.thread][other];
        if (other == step.thread) continue;
        count += written_[i][other] > known || (step.writes && read_[i][other] > known);
      }
    return count;
  }
  void take(const Step& step) {
    std::array<int, kThreads>& mine = known_[step.thread];
    if (step.mutex < 0) {
      for (std::size_t i = step.offset; i < step.offset + step.size; ++i)
        (step.writes ? written_ : read_)[i][step.thread] = now_[step.thread];
      return;
    }
    mine[step.thread] = now_[step.thread];
    std::array<int, kThreads>& kept = released_[step.mutex];
    for (int i = 0; i < kThreads; ++i) mine[i] = kept[i] = std::max(mine[i], kept[i]);
    ++now_[step.thread];
  }

 private:
  std::array<int, kThreads> now_ = {1, 1, 1};
  std::array<int, kThreads> known_[kThreads] = {};
  std::array<int, kThreads> released_[2] = {};
  std::array<int, kThreads> read_[kBytes] = {};
  std::array<int, kThreads> written_[kBytes] = {};
};

class Plan {
 public:
  explicit Plan(unsigned seed) : random_(seed), hot_(below(3)), mutex_share_(2 + below(12)) {
    while (steps_.size() < kSteps) {
      const Step step = any();
      if (step.mutex < 0 && model_.races(step) > 0) continue;
      model_.take(step);
      steps_.push_back(step);
    }
    for (int last = 0; last < kLast; ++last) add_last(last);
  }
  const std::vector<Step>& steps() const { return steps_; }
  bool is_in_race(int last) const { return is_in_race_[last]; }

 private:
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
  Step any() {
    Step step = {static_cast<int>(below(kThreads)), -1, -1, 0, 0, below(3) == 0};
    if (below(mutex_share_) == 0) {
      step.mutex = static_cast<int>(below(2));
      return step;
    }
    const unsigned kind = below(4);
    step.size = kind == 0 ? 1 : kind == 1 ? 8 : 1 + below(8);
    step.offset = below(kBytes - 7);
    // Some plans read the same whole words all the time, as groups of readers come to be.
    if (hot_ > 0 && below(2) == 0) {
      step.size = hot_ == 1 ? 8 : 4;
      step.offset = step.size * below(2);
      step.writes = below(200) == 0;
    }
    return step;
  }
  // One in memory that no other of the last ones is near: in race with as little as can be, or with nothing.
  void add_last(int last) {
    const bool is_to_race = below(2) == 0;
    Step found = {};
    int fewest = 0;
    for (int tries = 0; tries < 500; ++tries) {
      Step step = {static_cast<int>(below(kThreads)), -1, last, 0, std::size_t{1} << below(4), below(2) == 0};
      step.offset = below(kBytes / step.size) * step.size;
      const int races = model_.races(step);
      if (is_near_last(step) || (races > 0) != is_to_race || (fewest > 0 && races >= fewest)) continue;
      found = step;
      fewest = races;
      if (races <= 1) break;
    }
    if (found.size == 0) return;
    steps_.push_back(found);
    is_in_race_[last] = is_to_race;
  }
  bool is_near_last(const Step& step) const {
    return std::any_of(steps_.begin() + kSteps, steps_.end(),
                       [&](const Step& other) { return step.offset / 8 == other.offset / 8; });
  }

  std::mt19937 random_;
  unsigned hot_;
  unsigned mutex_share_;
  Model model_;
  std::vector<Step> steps_;
  bool is_in_race_[kLast] = {};
};

template <class Value>
void access(char* at, bool writes) {
  auto* const value = reinterpret_cast<volatile Value*>(at);
  if (writes) {
    *value = 1;
  } else {
    static_cast<void>(*value);
  }
}
template <std::size_t kSize>
void copy(char* at, bool writes) {
  char local[kSize] = {};
  if (writes) {
    std::memcpy(at, local, kSize);
  } else {
    std::memcpy(local, at, kSize);
  }
  asm volatile("" : : "r"(local) : "memory");
}

// Misaligned where the compiler knows.
template <class Value>
void use(char* at, bool writes) {
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(Value) == 0) {
    access<Value>(at, writes);
  } else {
    copy<sizeof(Value)>(at, writes);
  }
}

void use(char* at, std::size_t size, bool writes) {
  switch (size) {
    case 1: return use<uint8_t>(at, writes);
    case 2: return use<uint16_t>(at, writes);
    case 3: return copy<3>(at, writes);
    case 4: return use<uint32_t>(at, writes);
    case 5: return copy<5>(at, writes);
    case 6: return copy<6>(at, writes);
    case 7: return copy<7>(at, writes);
    default: return use<uint64_t>(at, writes);
  }
}

// Each from a place of its own.
#define LAST(number)                                                                        \
  case number: {                                                                            \
    if (says) return __LINE__;                                                              \
    if (writes && size == 1) *reinterpret_cast<volatile uint8_t*>(at) = 1;                  \
    if (writes && size == 2) *reinterpret_cast<volatile uint16_t*>(at) = 1;                 \
    if (writes && size == 4) *reinterpret_cast<volatile uint32_t*>(at) = 1;                 \
    if (writes && size == 8) *reinterpret_cast<volatile uint64_t*>(at) = 1;                 \
    if (!writes && size == 1) static_cast<void>(*reinterpret_cast<volatile uint8_t*>(at));  \
    if (!writes && size == 2) static_cast<void>(*reinterpret_cast<volatile uint16_t*>(at)); \
    if (!writes && size == 4) static_cast<void>(*reinterpret_cast<volatile uint32_t*>(at)); \
    if (!writes && size == 8) static_cast<void>(*reinterpret_cast<volatile uint64_t*>(at)); \
    return 0;                                                                               \
  }
// Its line, if it only says so.
[[clang::optnone, gnu::noinline]] int last_access(int number, bool says, char* at, std::size_t size,
                                                  bool writes) {
  switch (number) {
    LAST(0)
    LAST(1)
    LAST(2)
    LAST(3)
    LAST(4)
    LAST(5)
    LAST(6)
    LAST(7)
    LAST(8)
    LAST(9)
    LAST(10)
    LAST(11)
    default: return 0;
  }
}

void run(const Plan& plan, int thread) {
  int number = 0;
  for (const Step& step : plan.steps()) {
    if (step.thread == thread) {
      schedule::at(number, [&] {
        char* const at = memory + step.offset;
        if (step.last >= 0)
          return static_cast<void>(last_access(step.last, false, at, step.size, step.writes));
        if (step.mutex < 0) return use(at, step.size, step.writes);
        const std::lock_guard lock(mutexes[step.mutex]);
      });
    }
    ++number;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const Plan plan(count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 0);
  if (count > 2) {
    for (int last = 0; last < kLast; ++last)
      if (plan.is_in_race(last)) std::printf("%d\n", last_access(last, true, nullptr, 0, false));
    return 0;
  }
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&plan, thread] { run(plan, thread); });
  for (std::thread& thread : threads) thread.join();
}
