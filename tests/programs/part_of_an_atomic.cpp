// One thread changes atomic variables; then, unordered, another one reads a byte of each.
#include <array>
#include <thread>

#include "schedule.h"

namespace {

std::array<long, 3> values;

template <int N>
[[gnu::noinline]] void add() {
  __atomic_fetch_add(&values[N], 1, __ATOMIC_RELAXED);
}
template <int N>
[[gnu::noinline]] void look() {
  static_cast<void>(*reinterpret_cast<volatile char*>(&values[N]));
}

}  // namespace

int main() {
  std::thread one([] { schedule::at(0, [] { add<0>(), add<1>(), add<2>(); }); });
  std::thread other([] { schedule::at(1, [] { look<0>(), look<1>(), look<2>(); }); });
  one.join(), other.join();
}
