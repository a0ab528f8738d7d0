// Three ways in which parallel code is right though its iterations interfere:
//
//   patterns optimistic   a result is computed from what was read, and thrown away if that has changed since
//   patterns redundant    work that somebody else has done already is not done again
//   patterns irrelevant   some of the work, such as statistics, has no part in the result
//
// With `unmarked` behind it the same without the mark, which a checker must then take for a mistake.
#include <heddle/heddle.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include "interleave.h"

namespace {

std::mutex mutex;
int shared = 1;

int do_work(int value) { return value * 2 + 1; }

// The second iteration commits while the first one computes.
void meet(int iteration, bool is_first_try) {
  if (iteration == 0 && is_first_try) {
    interleave::end_turn();
    interleave::wait_for(2);
  }
}

void optimistic(int iteration) {
  for (bool is_first_try = true;; is_first_try = false) {
    mutex.lock();
    const int before = shared;
    mutex.unlock();
    const int after = do_work(before);
    meet(iteration, is_first_try);
    const std::lock_guard<std::mutex> locked(mutex);
    if (HEDDLE_MAYBE && shared == before) {
      shared = after;
      return;
    }
  }
}

void optimistic_unmarked(int iteration) {
  for (bool is_first_try = true;; is_first_try = false) {
    mutex.lock();
    const int before = shared;
    mutex.unlock();
    const int after = do_work(before);
    meet(iteration, is_first_try);
    const std::lock_guard<std::mutex> locked(mutex);
    if (shared == before) {
      shared = after;
      return;
    }
  }
}

int cached = 0;  // the result, when somebody has computed it

bool is_cached() {
  const std::lock_guard<std::mutex> locked(mutex);
  return cached != 0;
}
void compute(int iteration) {
  meet(iteration, true);
  const std::lock_guard<std::mutex> locked(mutex);
  if (cached == 0) cached = do_work(20);
}

void redundant(int iteration) {
  if (HEDDLE_MAYBE && is_cached()) return;
  compute(iteration);
}

void redundant_unmarked(int iteration) {
  if (is_cached()) return;
  compute(iteration);
}

int results[2];
int counter = 0;

void count(int iteration) {
  mutex.lock();
  const int before = counter;
  mutex.unlock();
  meet(iteration, true);
  const std::lock_guard<std::mutex> locked(mutex);
  if (before < 1000) counter = before + 1;
}

void irrelevant(int iteration) {
  results[iteration] = do_work(iteration);
  if (HEDDLE_MAYBE) {
    count(iteration);
  }
}

void irrelevant_unmarked(int iteration) {
  results[iteration] = do_work(iteration);
  count(iteration);
}

void run(void (*body)(int)) {
  heddle::parallel_for(0, 2, [&](int iteration) {
    if (iteration == 1) interleave::wait_for(1);
    body(iteration);
    if (iteration == 1) interleave::end_turn();
  });
}

}  // namespace

int main(int count, char** arguments) {
  const char* const pattern = count > 1 ? arguments[1] : "optimistic";
  const bool is_marked = count <= 2;
  if (std::strcmp(pattern, "optimistic") == 0) run(is_marked ? optimistic : optimistic_unmarked);
  if (std::strcmp(pattern, "redundant") == 0) run(is_marked ? redundant : redundant_unmarked);
  if (std::strcmp(pattern, "irrelevant") == 0) run(is_marked ? irrelevant : irrelevant_unmarked);
  heddle::focus(shared);
  heddle::focus(cached);
  heddle::focus(results);
  std::printf("%d %d %d %d\n", shared, cached, results[0], results[1]);
}
