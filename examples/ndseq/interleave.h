// Forces the interleaving that an example is about, so that it shows the same in every run. No checker sees
// it, and it does nothing in a normal build and in sequential runs.
#pragma once

#include <sched.h>

#include <cstdlib>

namespace interleave {

inline int turn = 0;

#ifdef __HEDDLE__
__attribute__((noinline, disable_sanitizer_instrumentation)) inline bool is_on() {
  static const bool on = std::getenv("HEDDLE_SEQUENTIAL") == nullptr;
  return on;
}
#else
inline bool is_on() { return false; }
#endif

// Until so many turns have ended.
__attribute__((noinline)) inline void wait_for(int number) {
  int now = number;
  if (is_on()) do {
      ::sched_yield();
      asm volatile("movl %1, %0" : "=r"(now) : "m"(turn) : "memory");
    } while (now < number);
}

__attribute__((noinline)) inline void end_turn() {
  if (is_on()) asm volatile("lock incl %0" : "+m"(turn) : : "memory");
}

}  // namespace interleave
