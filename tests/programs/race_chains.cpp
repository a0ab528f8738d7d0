// Two races, one in the place of the other: the thread that did the earlier access of the first does the
// later one of the second. The monitor hears of the first race before it has heard of what the third thread
// locked, and of what that one accessed after it.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>

#include "schedule.h"

using schedule::at;

namespace {

struct Words {
  uint64_t of[8];
};

alignas(64) char first[64];
alignas(64) char second[64];
std::mutex mutexes[3];

[[gnu::noinline]] void write_all(char* memory) {
  Words words;
  std::memset(&words, 1, sizeof(words));
  *reinterpret_cast<Words*>(memory) = words;
}
[[gnu::noinline]] int read_some(const char* memory) {
  return *reinterpret_cast<const volatile int16_t*>(memory);
}
void lock(std::mutex& mutex) { const std::lock_guard locked(mutex); }

}  // namespace

int main() {
  std::thread a([] {
    at(0, [] { read_some(first); });
    at(3, [] { write_all(second); });
    schedule::wait_for(5);
    lock(mutexes[0]);
  });
  std::thread b([] {
    at(1, [] {
      lock(mutexes[1]);
      write_all(first);
    });
    schedule::wait_for(5);
    lock(mutexes[1]);
  });
  std::thread c([] {
    at(2, [] {
      lock(mutexes[2]);
      read_some(second);
    });
    at(4, [] {
      for (int i = 0; i < 20'000; ++i) sched_yield();  // so that the monitor has read what there is
    });
    lock(mutexes[2]);
  });
  a.join();
  b.join();
  c.join();
}
