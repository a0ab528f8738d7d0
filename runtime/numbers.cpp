#include "runtime/numbers.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>

#include "runtime/memory.h"
#include "runtime/message.h"
#include "runtime/spin_lock.h"

namespace heddle::runtime {

namespace {

constexpr uint32_t kWords = uint32_t{1} << (kNumberBits - 6);
constexpr uint64_t kAll = ~uint64_t{0};
constexpr uint64_t kFewest = uint64_t{1} << 16;  // that a sweep is made for

constinit SpinLock lock;                   // for what follows
uint64_t* used = nullptr;                  // a bit for each number
uint32_t next_word = 0;                    // where to look for free ones
uint32_t touched_words = 0;                // those after have never been used
constinit std::atomic<uint64_t> taken{0};  // since the last sweep
constinit std::atomic<uint64_t> limit{kFewest};
uint64_t always_after = 0;  // HEDDLE_SWEEP_AFTER=N, for tests: sweeps come after so many, whatever they cost

}  // namespace

void reserve_numbers() {
  used = static_cast<uint64_t*>(reserve(kWords * sizeof(uint64_t), "the numbers in use"));
  used[0] = 1;  // 0 means nothing
  const char* const wanted = ::getenv("HEDDLE_SWEEP_AFTER");
  if (wanted == nullptr) return;
  always_after = ::strtoull(wanted, nullptr, 10);
  if (always_after != 0) limit.store(always_after);
}

void refill(Numbers& numbers) {
  const Locked locked(lock);
  while (next_word < touched_words && used[next_word] == kAll) ++next_word;
  if (next_word == kWords) fail("the program's memory has more histories than there are numbers for");
  numbers = {next_word * 64, ~used[next_word]};
  used[next_word++] = kAll;
  touched_words = std::max(touched_words, next_word);
  taken.fetch_add(static_cast<uint64_t>(std::popcount(numbers.left)), std::memory_order_relaxed);
}

void unlock_numbers() { lock.unlock(); }

bool is_sweep_due() { return taken.load(std::memory_order_relaxed) >= limit.load(std::memory_order_relaxed); }

void hasten_sweep(uint64_t numbers) { taken.fetch_add(numbers, std::memory_order_relaxed); }

Marking::Marking() {
  lock.lock();
  std::fill_n(used, touched_words, 0);
  used[0] = 1;
}

Marking::~Marking() {
  uint64_t live = 0;
  for (uint32_t i = 0; i < touched_words; ++i) live += static_cast<uint64_t>(std::popcount(used[i]));
  // Seldom enough that a number's share of the cost does not grow, and long before there are none left.
  const uint64_t next = std::min(std::max(kFewest, 4 * live + cost_), (kNumberMask - live) / 2);
  limit.store(always_after != 0 ? always_after : next, std::memory_order_relaxed);
  taken.store(0, std::memory_order_relaxed);
  next_word = 0;
  lock.unlock();
}

bool Marking::mark(Number number) {
  uint64_t& word = used[number / 64];
  const uint64_t bit = uint64_t{1} << number % 64;
  if ((word & bit) != 0) return false;
  word |= bit;
  return true;
}

bool Marking::is_marked(Number number) const { return (used[number / 64] >> number % 64 & 1) != 0; }

void Marking::mark_all(const Numbers& numbers) { used[numbers.first / 64] = kAll; }

}  // namespace heddle::runtime
