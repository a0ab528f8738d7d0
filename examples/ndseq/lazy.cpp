// Lazy initialization: whoever comes first makes the table. The mark says that looking twice is as good as
// looking once; but a checker takes what the first one did for its own, so that it must come before all
// others. When it later needs what one of them has done, that is reported (a known false alarm: it does not
// matter who makes the table).
#include <heddle/heddle.h>

#include <cstdio>
#include <mutex>

#include "interleave.h"

namespace {

std::mutex mutex;
bool is_ready = false;
int table[4];
int results[2];

void initialize() {
  const std::lock_guard<std::mutex> locked(mutex);
  if (is_ready) return;
  for (int i = 0; i < 4; ++i) table[i] = i * i;
  is_ready = true;
}

bool is_initialized() {
  const std::lock_guard<std::mutex> locked(mutex);
  return is_ready;
}

int look_up(int at) {
  if (HEDDLE_MAYBE && is_initialized()) return table[at];
  initialize();
  return table[at];
}

}  // namespace

int main() {
  heddle::parallel_for(0, 2, [](int i) {
    if (i == 1) interleave::wait_for(1);
    int result = look_up(i + 1);
    if (i == 0) {
      interleave::end_turn();
      interleave::wait_for(2);
      const std::lock_guard<std::mutex> locked(mutex);
      result += results[1];
    }
    {
      const std::lock_guard<std::mutex> locked(mutex);
      results[i] = result;
    }
    if (i == 1) interleave::end_turn();
  });
  heddle::focus(results);
  std::printf("%d %d\n", results[0], results[1]);
}
