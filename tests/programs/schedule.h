// Forces an order on the threads of a test program that no checker can see: nothing here is instrumented or
// interposed, so it orders the run and not the program.
#pragma once

#include <sched.h>

namespace schedule {

inline int turn = 0;

// Whether `number` turns have been ended.
inline bool has_come(int number) {
  int now;
  asm volatile("movl %1, %0" : "=r"(now) : "m"(turn) : "memory");
  return now >= number;
}

// Waits for that.
inline void wait_for(int number) {
  while (!has_come(number)) ::sched_yield();
}

inline void end_turn() { asm volatile("lock incl %0" : "+m"(turn) : : "memory"); }

// One turn of one thread: body() as the `number`-th, from 0.
template <class Body>
void at(int number, Body body) {
  wait_for(number);
  body();
  end_turn();
}

}  // namespace schedule
