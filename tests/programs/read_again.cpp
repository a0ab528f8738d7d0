// Iteration 0 writes a variable and reads it, a loop told as one writes it, and it reads it again: the value
// then is the loop's last, and what the last round reads matters. Iteration 1 changes that before and after.
// In the twins it does so before alone.
#include <heddle/heddle.h>

#include <cstring>
#include <mutex>

#include "interleave.h"

namespace {

using interleave::end_turn;
using interleave::wait_for;

constexpr int kFew = 2;
constexpr int kMany = 500;  // more than are forgotten one by one
long from[kMany];
long to[1];
unsigned char nowhere[kMany];  // all 0, which nobody knows
long results[2];
std::mutex mutex;

[[gnu::noinline]] void copy(long* target, const long* source, int count) {
  for (int i = 0; i < count; ++i) *target = source[i];
}
// Goes through several blocks.
[[gnu::noinline]] void copy_some(long* target, const long* source, int count) {
  for (int i = 0; i < count; ++i)
    if (nowhere[i] == 0) *target = source[i];
}
// Goes wherever it is told.
[[gnu::noinline]] void copy_where(long* target, const long* source, int count) {
  for (int i = 0; i < count; ++i) target[nowhere[i]] = source[i];
}

[[gnu::noinline]] void put(long* target, long value) { *target = value; }
[[gnu::noinline]] long get(const long* source) { return *source; }

void change(long& element, long value) {
  const std::lock_guard<std::mutex> lock(mutex);
  element = value;
}

void run(void (*copy_all)(long*, const long*, int), int count, bool is_changed_again) {
  heddle::parallel_for(0, 2, [&](int i) {
    if (i == 1) {
      change(from[count - 1], 1);
      end_turn();
      wait_for(2);
      if (is_changed_again) change(from[count - 1], 2);
      return;
    }
    wait_for(1);
    {
      const std::lock_guard<std::mutex> lock(mutex);
      put(to, 3);
      results[1] = get(to);
      copy_all(to, from, count);
      results[0] = get(to);
    }
    end_turn();
  });
  heddle::focus(results);
}

}  // namespace

int main(int, char** arguments) {
  const bool is_changed_again = std::strcmp(arguments[2], "wrong") == 0;
  const char* const which = arguments[1];
  if (std::strcmp(which, "few") == 0) run(copy, kFew, is_changed_again);
  if (std::strcmp(which, "many") == 0) run(copy, kMany, is_changed_again);
  if (std::strcmp(which, "some") == 0) run(copy_some, kFew, is_changed_again);
  if (std::strcmp(which, "where") == 0) run(copy_where, kFew, is_changed_again);
}
