// What compiled code and the runtime agree on, and the runtime and the monitor, as a number.
//
// Code has parts of the runtime in it: where the state of memory lies, what is kept for each thread, what
// loops keep and say of themselves, which functions there are and what they are given. The monitor reads
// memory that the runtime writes. Each may have been built at another time, and what does not fit would
// crash.
#pragma once

#include <cstdint>

namespace heddle::runtime {

// Raise it with every change to what the plug-in writes into programs, or to layout.h, stretches.h, frames.h,
// flow.h, series.h, channel.h, or the functions that programs call.
inline constexpr uint32_t kInterface = 5;

// Ends the program if it was built before there was such a number; `code` is its own, and loaded.
void refuse_unknown_code(const void* code);

}  // namespace heddle::runtime
