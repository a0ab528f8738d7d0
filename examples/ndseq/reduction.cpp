// A reduction without locks: each iteration computes a new value from the present one, and tries again when
// somebody has changed it meanwhile.
#include <heddle/heddle.h>

#include <atomic>
#include <cstdio>

#include "interleave.h"

namespace {

std::atomic<int> x{0};

void combine(int i) {
  bool done = false;
  bool is_first_try = true;
  while (!done) {
    if (HEDDLE_MAYBE) {
      int previous = x.load();
      const int combined = i * previous + i;
      if (i == 1 && is_first_try) {
        interleave::end_turn();
        interleave::wait_for(2);
      }
      if (x.compare_exchange_strong(previous, combined)) done = true;
    }
    is_first_try = false;
  }
}

}  // namespace

int main() {
  heddle::parallel_for(1, 4, [](int i) {
    if (i > 1) interleave::wait_for(i - 1);
    combine(i);
    if (i > 1) interleave::end_turn();
  });
  heddle::focus(x);
  std::printf("%d\n", x.load());
}
