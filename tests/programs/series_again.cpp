// Loops that go over the same memory again and again are looked at once, as long as it is the same memory.
// The argument says how the second thread comes too early: after a loop that was made twice, or to memory
// that is new at an old address. Without one it comes in time.
#include <cstdlib>
#include <cstring>
#include <thread>

#include "schedule.h"

constexpr std::size_t kCount = 512;

[[gnu::noinline]] void fill(long* numbers, long value) {
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = value;
}
[[gnu::noinline]] long sum(const long* numbers) {
  long sum = 0;
  for (std::size_t i = 0; i < kCount; ++i) sum += numbers[i];
  return sum;
}

long seen = 0;

int main(int argc, char** argv) {
  const char* const early = argc > 1 ? argv[1] : "";
  static long fixed[kCount];
  long* given = nullptr;
  std::thread other([&] {  // so that main is not alone while it fills
    if (*early == '\0') return;
    schedule::wait_for(1);
    seen = sum(given);
    schedule::end_turn();
  });
  if (*early == '\0') other.join();
  if (std::strcmp(early, "again") == 0) {
    given = fixed;
    fill(given, 1);
    for (int i = 0; i < 3; ++i) fill(given, sum(given));
  } else {
    auto* first = static_cast<long*>(std::malloc(kCount * sizeof(long)));
    fill(first, 1);
    std::free(first);
    given = static_cast<long*>(std::malloc(kCount * sizeof(long)));  // where the first was, most likely
    fill(given, 2);
  }
  schedule::end_turn();
  if (*early == '\0') seen = sum(given);
  if (*early != '\0') {
    schedule::wait_for(2);
    other.join();
  }
}
