// Accesses that functions make in the program's name.
#pragma once

#include <cstdint>

#include "runtime/rare_access.h"
#include "runtime/registers.h"

namespace heddle::runtime {

// The code at `pc` reads or writes so many bytes (rare_access.h says how that is one number).
HEDDLE_KEEPS_REGISTERS void access_memory(const void* address, uint64_t size_and_kind, const void* pc);
// So many times, each so far from the one before.
HEDDLE_KEEPS_REGISTERS void access_memory_series(uint64_t address, uint64_t count, int64_t step,
                                                 uint64_t size_and_kind, const void* pc);

}  // namespace heddle::runtime
