// Which numbers (runtime/stretches.h) are in use. They are handed out 64 at a time, to one thread each. A
// sweep (runtime/sweep.h) finds out which of them are still referred to; the others are handed out again.
#pragma once

#include <cstdint>

#include "runtime/registers.h"
#include "runtime/stretches.h"

namespace heddle::runtime {

struct Numbers {
  Number first = 0;   // of 64 in a row
  uint64_t left = 0;  // a bit for each that is still to be used
};

void reserve_numbers();
void refill(Numbers& numbers);

HEDDLE_INLINE Number take(Numbers& numbers) {
  if (numbers.left == 0) {
    auto more = [&] { refill(numbers); };
    keep_registers(more);
  }
  const auto at = static_cast<Number>(__builtin_ctzll(numbers.left));
  numbers.left &= numbers.left - 1;
  return numbers.first + at;
}

// Whether so many were handed out since the last sweep that the next one is worth its cost.
bool is_sweep_due();
void unlock_numbers();  // in the child after a fork

// Something else needs one too; it counts as so many.
void hasten_sweep(uint64_t numbers);

// While it lives, nobody gets numbers; those that are not marked then are free when it ends.
class Marking {
 public:
  Marking();
  ~Marking();
  Marking(const Marking&) = delete;
  Marking& operator=(const Marking&) = delete;

  // True the first time.
  bool mark(Number number);
  bool is_marked(Number number) const;
  void mark_all(const Numbers& numbers);
  // What the next sweep will have to look at, about.
  void set_cost(uint64_t cost) { cost_ = cost; }

 private:
  uint64_t cost_ = 0;
};

}  // namespace heddle::runtime
