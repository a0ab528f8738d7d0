// How the compiler plug-in describes an atomic operation to the runtime.
#pragma once

#include <cstdint>

namespace heddle::runtime {

// What it does; both for a read-modify-write.
inline constexpr uint32_t kAtomicRead = 1;
inline constexpr uint32_t kAtomicWrite = 2;

// What its order means.
inline constexpr uint32_t kAcquires = 1;
inline constexpr uint32_t kReleases = 2;

}  // namespace heddle::runtime
