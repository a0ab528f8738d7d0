// Exceptions that leave several functions and are caught by code that was built without Heddle: which
// function the thread is in is known afterwards.
#include <cstdlib>
#include <thread>

#include "schedule.h"

bool catches(void (*function)(int), int argument);

int depth;
int unguarded;

namespace {

[[gnu::noinline]] void throw_below(int calls) {
  if (calls == 0) throw calls;
  throw_below(calls - 1);
  ++depth;  // the call above is no tail call
}
[[gnu::noinline]] void callback(int calls) { throw_below(calls); }

[[gnu::noinline]] void write_unguarded() { unguarded = 1; }

[[gnu::noinline]] void catch_and_write() {
  for (int calls = 0; calls < 10; ++calls)
    if (!catches(callback, calls)) std::abort();
  write_unguarded();
}

}  // namespace

int main() {
  std::thread first([] { schedule::at(0, catch_and_write); });
  std::thread second([] { schedule::at(1, catch_and_write); });
  first.join();
  second.join();
}
