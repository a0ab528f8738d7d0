// What an access may come to when one comparison does not settle it: memory read by several threads, bytes
// with different histories, a race.
#pragma once

#include <cstdint>

#include "runtime/registers.h"

namespace heddle::runtime {

// Beside the size.
inline constexpr uint64_t kWrites = uint64_t{1} << 63;
inline constexpr uint64_t kIsAtomic = uint64_t{1} << 62;

HEDDLE_KEEPS_REGISTERS void rare_access(const void* address, uint64_t size_and_kind, const char* name,
                                        const void* caller, const void* pc);

// Afterwards the page of the address was settled, for a moment at least (runtime/ownership.h).
struct Thread;
HEDDLE_KEEPS_REGISTERS void settle_page(Thread& thread, const void* address);
// It may have patches then (runtime/patches.h).
HEDDLE_KEEPS_REGISTERS void patch_page(Thread& thread, const void* address);

// An atomic operation that writes, if the memory is open to such (runtime/open_groups.h); false: it is not.
bool join_updates(Thread& thread, const void* variable, unsigned size, const void* pc);

}  // namespace heddle::runtime
