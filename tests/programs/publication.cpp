// What one thread has written and another reads, handed over by fences and a relaxed flag. (TSan, Helgrind
// and DRD report the correct ones.)
#include <atomic>

#include "twins.h"

namespace {

long message = 0;
std::atomic<bool> is_written{false};

template <bool kReleases>
void write() {
  message = 42;  // here: write
  if constexpr (kReleases) std::atomic_thread_fence(std::memory_order_release);
  is_written.store(true, std::memory_order_relaxed);
}

template <bool kAcquires>
void read() {
  while (!is_written.load(std::memory_order_relaxed)) {
  }
  if constexpr (kAcquires) std::atomic_thread_fence(std::memory_order_acquire);
  if (message != 42) std::puts("not yet written");  // here: read
}

void both(void (*first)(), void (*second)()) {
  std::thread a([=] { schedule::at(0, first); });
  std::thread b([=] { schedule::at(1, second); });
  a.join();
  b.join();
}

const twins::Cases kCases = {
    {"no_fence", [] { both(write<false>, read<false>); }},
    {"only_release", [] { both(write<true>, read<false>); }},
    {"only_acquire", [] { both(write<false>, read<true>); }},
    {"two_fences", [] { both(write<true>, read<true>); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
