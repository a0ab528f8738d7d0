// The writable data of the program's libraries: what a function that nobody can look into has kept, and what
// it knows by name, has its address there.
#pragma once

#include <cstdint>

#include "runtime/objects.h"

namespace heddle::runtime {

struct DataSegments {
  static constexpr uint32_t kMost = 256;
  Object of[kMost];
  uint32_t count = 0;
};

// Of every library that is not the system's, since they may call each other, with the present thread's own
// variables; of the program's file only if the function is in it. None for a function of the system's, or
// null.
DataSegments data_used_by(const void* function);

}  // namespace heddle::runtime
