// Threads that go over the same pages at once, in no order but that of barriers and locks. In each phase a
// part of the memory is one thread's to write, every element or every other one, or everybody's to read, or
// whoever has a lock may write it; in the next phase it is something else. Threads make and give back memory
// meanwhile. The first argument decides what; with a second one, "race", two threads that nothing orders go
// over the same elements in the last phase, one of them writing.
#include <algorithm>
#include <array>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kPhases = 120;
constexpr std::size_t kParts = 12;
constexpr std::size_t kElements = 3000;

alignas(4096) std::array<long, kElements> elements;
std::mutex mutex;

enum class Does : uint8_t { kWritten, kEveryOther, kRead, kLocked, kByElement, kRaced };
struct Part {
  Does does;
  std::size_t owner;
  std::size_t begin;
  std::size_t end;
};
using Phase = std::array<Part, kParts>;

[[gnu::noinline]] void write_all(long* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<long>(i);
}
[[gnu::noinline]] void write_every_other(long* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 2) from[i] = static_cast<long>(i);
}
[[gnu::noinline]] long sum_all(const long* from, std::size_t count) {
  long sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += from[i];
  return sum;
}
[[gnu::noinline]] long sum_every_other(const long* from, std::size_t count) {
  long sum = 0;
  for (std::size_t i = 0; i < count; i += 2) sum += from[i];
  return sum;
}

std::vector<Phase> plan(unsigned seed, bool races) {
  std::minstd_rand random(seed);
  for (int i = 0; i < 10; ++i) random();
  std::vector<Phase> phases(kPhases);
  for (Phase& phase : phases) {
    std::array<std::size_t, kParts + 1> limits = {0};
    for (std::size_t i = 1; i < kParts; ++i) limits[i] = random() % kElements;
    limits[kParts] = kElements;
    std::sort(limits.begin(), limits.end());
    for (std::size_t i = 0; i < kParts; ++i)
      phase[i] = {static_cast<Does>(random() % 5), random() % kThreads, limits[i], limits[i + 1]};
  }
  if (races) {
    const std::size_t begin = random() % (kElements - 200);
    for (Part& part : phases.back()) part.end = part.begin;
    phases.back()[0] = {Does::kRaced, random() % kThreads, begin, begin + 1 + random() % 200};
  }
  return phases;
}

long act(const Part& part, std::size_t thread) {
  long* const from = elements.data() + part.begin;
  const std::size_t count = part.end - part.begin;
  const bool is_owner = thread == part.owner;
  if (count == 0) return 0;
  switch (part.does) {
    case Does::kWritten:
      if (!is_owner) return 0;
      write_all(from, count);
      return sum_all(from, count);
    case Does::kEveryOther:  // one thread has the even ones, another one the odd ones
      if (is_owner) write_every_other(from, count);
      if (thread == (part.owner + 1) % kThreads && count > 1) write_every_other(from + 1, count - 1);
      return is_owner ? sum_every_other(from, count) : 0;
    case Does::kRead: return sum_all(from, count);
    case Does::kLocked: {
      const std::scoped_lock lock(mutex);
      write_all(from, count);
      return sum_every_other(from, count);
    }
    case Does::kByElement:
      if (is_owner)
        for (std::size_t i = 0; i < count; i += 1 + i % 7) *static_cast<volatile long*>(from + i) = 1;
      return 0;
    case Does::kRaced:
      if (is_owner) write_all(from, count);
      return thread == (part.owner + 1) % kThreads ? sum_all(from, count) : 0;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  const std::vector<Phase> phases = plan(seed, count > 2 && std::strcmp(arguments[2], "race") == 0);
  std::barrier barrier(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      long sum = 0;
      for (const Phase& phase : phases) {
        const std::size_t size = 100 + (seed + thread * 700) % 3000;
        const auto own = std::make_unique<long[]>(size);
        write_all(own.get(), size);
        for (const Part& part : phase) sum += act(part, thread);
        sum += sum_all(own.get(), size);
        barrier.arrive_and_wait();
      }
      asm volatile("" : : "r"(sum));
    });
  for (std::thread& thread : threads) thread.join();
}
