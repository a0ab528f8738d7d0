// Memory that three threads read again and again in an order that is forced on them, until one of them writes
// it; or counters that they change atomically again and again, until one of them uses it in another way; or
// many variables that they read and write, so that most of what was done to a variable was done long ago. The
// seed decides which of the three (by what is left when it is divided by 3), who accesses and locks what, and
// so whether the last access is ordered after all others. Prints which: "race" or "clean", by its own count
// of what each thread knows of the others.
#include <array>
#include <atomic>
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
constexpr int kReads = 600;
constexpr int kUpdates = 1000;
constexpr int kVariables = 48;
constexpr int kCommon = kThreads;  // the lock that all take; the others are one thread's each

constexpr int kVariableBytes = 16;
alignas(kVariableBytes) char memory[kVariables * kVariableBytes];
std::array<std::mutex, kThreads + 1> mutexes;

struct Bytes {
  int first;
  int size;
};
constexpr Bytes kWhole = {0, 8};
constexpr std::array<Bytes, 7> kParts = {{kWhole, {0, 4}, {4, 4}, {3, 1}, {6, 2}, {4, 12}, {8, 8}}};

enum class Does : uint8_t { kRead, kWrite, kLock, kUpdate, kLoad };  // the last two are atomic
struct Step {
  int thread;
  Does does;
  Bytes bytes = {};
  int lock = 0;
};

// What happens, and what each thread knows of the others' steps by then.
class Plan {
 public:
  explicit Plan(unsigned seed) : random_(seed) {
    if (seed % 3 == 0) {
      read_one_again_and_again();
    } else if (seed % 3 == 1) {
      update_one_again_and_again();
    } else {
      use_many();
    }
  }

  const std::vector<Step>& steps() const { return steps_; }
  bool races() const { return races_; }

 private:
  using Known = std::array<std::size_t, kThreads>;  // of each thread: up to which step

  void read_one_again_and_again() {
    const Bytes often = kParts.at(below(3));
    for (int i = 0; i < kReads; ++i) {
      const int thread = static_cast<int>(below(kThreads));
      if (below(4) != 0) lock(thread, thread);
      read(thread, below(200) == 0 ? kParts.at(below(kParts.size())) : often);
      if (below(600) == 0) write_in_order(often);
    }
    for (int thread = 0; thread < kThreads; ++thread)
      if (below(6) != 0) lock(thread, thread);
    if (below(4) == 0) read(static_cast<int>(below(kThreads)), often);
    const int writer = static_cast<int>(below(kThreads));
    for (int thread = 0; thread < kThreads; ++thread)
      if (below(6) != 0) lock(writer, thread);
    races_ = write(writer, kParts.at(below(kParts.size())));
  }

  // The whole, or one half; sometimes another thread looks at it, or it is set to something in between.
  void update_one_again_and_again() {
    const Bytes often = kParts.at(below(3));
    const bool one_only_looks = below(3) == 0;
    const auto of = [&](int thread) { return one_only_looks && thread == 0 ? Does::kLoad : Does::kUpdate; };
    for (int i = 0; i < kUpdates; ++i) {
      const auto thread = static_cast<int>(below(kThreads));
      if (below(4) != 0) lock(thread, thread);
      // A counter is used in one way only; neighbours may be used in another way.
      const Bytes bytes = often.size == 4 && below(20) == 0 ? Bytes{4 - often.first, 4} : often;
      steps_.push_back({thread, below(500) == 0 ? Does::kLoad : of(thread), bytes});
      if (below(1000) == 0) write_in_order(often);
    }
    for (int thread = 0; thread < kThreads; ++thread) lock(thread, thread);
    const auto user = static_cast<int>(below(kThreads));
    const int other = (user + 1) % kThreads;
    if (below(2) == 0) steps_.push_back({other, of(other), often});
    for (int thread = 0; thread < kThreads; ++thread)
      if (below(12) != 0) lock(user, thread);
    const Step last = {user, below(2) == 0 ? Does::kWrite : Does::kRead, kParts.at(below(kParts.size()))};
    races_ = races_with_earlier(last);
    steps_.push_back(last);
  }

  // In order, up to the last access.
  void use_many() {
    const std::size_t seldom = below(2) == 0 ? 3 : 40;  // they meet
    for (int i = 0; i < 2 * kReads; ++i) {
      const int thread = static_cast<int>(below(kThreads));
      lock(thread, below(seldom) == 0 ? static_cast<int>(below(kThreads + 1)) : thread);
      const Step next = any_access(thread);
      if (!races_with_earlier(next)) steps_.push_back(next);
    }
    const bool is_to_race = below(2) == 0;
    Step last = {};
    for (int tries = 0; tries == 0 || (tries < 1000 && races_ != is_to_race); ++tries) {
      last = any_access(static_cast<int>(below(kThreads)));
      races_ = races_with_earlier(last);
    }
    steps_.push_back(last);
  }
  Step any_access(int thread) {
    Bytes bytes = kParts.at(below(kParts.size()));
    bytes.first += static_cast<int>(below(kVariables)) * kVariableBytes;
    return {thread, below(3) == 0 ? Does::kWrite : Does::kRead, bytes};
  }

  std::size_t below(std::size_t limit) { return random_() % limit; }

  void lock(int thread, int lock) {
    Known& mine = known_.at(thread);
    Known& left = left_.at(lock);
    for (int other = 0; other < kThreads; ++other) mine.at(other) = std::max(mine.at(other), left.at(other));
    mine.at(thread) = steps_.size();
    left = mine;
    steps_.push_back({thread, Does::kLock, {}, lock});
  }
  void read(int thread, Bytes bytes) { steps_.push_back({thread, Does::kRead, bytes}); }
  static bool writes(const Step& step) { return step.does == Does::kWrite || step.does == Does::kUpdate; }
  static bool is_atomic(const Step& step) { return step.does == Does::kUpdate || step.does == Does::kLoad; }
  // Whether an earlier access of another thread is not known to come before.
  bool races_with_earlier(const Step& next) const {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      const bool overlaps = step.bytes.first < next.bytes.first + next.bytes.size &&
                            next.bytes.first < step.bytes.first + step.bytes.size;
      const bool conflicts =
          (writes(step) || writes(next)) && !(is_atomic(step) && is_atomic(next)) && step.does != Does::kLock;
      if (step.thread != next.thread && overlaps && conflicts && i >= known_.at(next.thread).at(step.thread))
        return true;
    }
    return false;
  }
  bool write(int thread, Bytes bytes) {
    const Step step = {thread, Does::kWrite, bytes};
    const bool races = races_with_earlier(step);
    steps_.push_back(step);
    return races;
  }
  void write_in_order(Bytes bytes) {
    for (int thread = 0; thread < kThreads; ++thread) lock(thread, kCommon);
    if (write(kThreads - 1, bytes)) std::abort();
    for (int thread = kThreads - 1; thread >= 0; --thread) lock(thread, kCommon);
  }

  std::mt19937 random_;
  std::vector<Step> steps_;
  std::array<Known, kThreads> known_ = {};
  std::array<Known, kThreads + 1> left_ = {};  // by who last had the lock
  bool races_ = false;
};

template <class T>
void access_atomically(const Step& step) {
  const std::atomic_ref<T> place(*reinterpret_cast<T*>(memory + step.bytes.first));
  if (step.does == Does::kUpdate) {
    place.fetch_add(1, std::memory_order_relaxed);
  } else {
    [[maybe_unused]] const T value = place.load(std::memory_order_relaxed);
  }
}

template <class T>
void access_as(const Step& step) {
  if (step.does == Does::kUpdate || step.does == Does::kLoad) return access_atomically<T>(step);
  volatile T& place = *reinterpret_cast<volatile T*>(memory + step.bytes.first);
  if (step.does == Does::kWrite) {
    place = 1;
  } else {
    [[maybe_unused]] const T value = place;
  }
}

void access(const Step& step) {
  switch (step.bytes.size) {
    case 1: return access_as<int8_t>(step);
    case 2: return access_as<int16_t>(step);
    case 4: return access_as<int32_t>(step);
    case 8: return access_as<int64_t>(step);
    default: break;
  }
  char* const here = memory + step.bytes.first;
  if (step.does == Does::kWrite) {
    std::memset(here, 1, static_cast<std::size_t>(step.bytes.size));
  } else {
    std::array<char, sizeof(memory)> copy;
    std::memcpy(copy.data(), here, static_cast<std::size_t>(step.bytes.size));
    asm volatile("" : : "r"(copy.data()) : "memory");  // somebody needs it
  }
}

}  // namespace

int main(int count, char** arguments) {
  const Plan plan(count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1);
  std::puts(plan.races() ? "race" : "clean");
  std::fflush(stdout);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&plan, thread] {
      int turn = 0;
      for (const Step& step : plan.steps()) {
        if (step.thread == thread)
          schedule::at(turn, [&] {
            if (step.does != Does::kLock) return access(step);
            mutexes.at(step.lock).lock();
            mutexes.at(step.lock).unlock();
          });
        ++turn;
      }
    });
  for (std::thread& thread : threads) thread.join();
}
