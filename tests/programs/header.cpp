// What heddle/heddle.h offers, in every standard since C++11, without a warning.
#include <heddle/heddle.h>

#ifdef __HEDDLE__
#include "Inputs/print_marks_of_header.h"
#else
#include <cstdio>
#endif

HEDDLE_ATOMIC_FUNCTION int annotated(int number);
int annotated(int number) { return number; }

template <class T>
T scoped(T value) {
  HEDDLE_ATOMIC("outer");
  HEDDLE_DETERMINISTIC("inner");
  {
    HEDDLE_ATOMIC("innermost");
  }
  if (value < 0) throw value;
  return value;
}

inline int pair(int number) {
  HEDDLE_BEGIN_ATOMIC("first");
  for (;;) {
    HEDDLE_BEGIN_DETERMINISTIC("second");
    ++number;
    HEDDLE_END;
    break;
  }
  HEDDLE_END;
  return number;
}

int main() {
  annotated(1);  // CHECK: begin annotated 0 1
                 // CHECK-NEXT: end annotated
  scoped(1);     // CHECK-NEXT: begin outer 0 2
                 // CHECK-NEXT: begin inner 1 2
                 // CHECK-NEXT: begin innermost 0 2
                 // CHECK-NEXT: end innermost
                 // CHECK-NEXT: end inner
                 // CHECK-NEXT: end outer
  try {
    scoped(-1.0);  // CHECK-NEXT: begin outer 0 2
                   // CHECK-NEXT: begin inner 1 2
                   // CHECK-NEXT: begin innermost 0 2
                   // CHECK-NEXT: end innermost
                   // CHECK-NEXT: end inner
                   // CHECK-NEXT: end outer
  } catch (double) {
  }
  pair(1);            // CHECK-NEXT: begin first 0 2
                      // CHECK-NEXT: begin second 1 2
                      // CHECK-NEXT: end second
                      // CHECK-NEXT: end first
  std::puts("done");  // CHECK-NEXT: done
                      // NOTHING-NOT: begin
                      // NOTHING: done
}
