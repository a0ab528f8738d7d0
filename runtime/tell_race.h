// What the monitor is told of a race.
#pragma once

#include <cstdint>

#include "runtime/stretches.h"

namespace heddle::runtime {

struct Thread;

// An access that is in race with what another thread did in an earlier stretch.
struct Race {
  Number earlier;  // the stretch
  bool earlier_wrote;
  const void* address;
  unsigned size;
  bool writes;
  bool is_atomic;
  const char* name;
  const void* caller;
  const void* pc;
  bool frees = false;  // it is no access: the memory is given back
};

void tell_race(Thread& thread, const Race& race);

}  // namespace heddle::runtime
