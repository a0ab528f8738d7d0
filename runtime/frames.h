// The list of the functions a thread is in (HeddleFrame, runtime/layout.h), where the compiler plug-in does
// not keep it.
#pragma once

#include <cstdint>

#include "runtime/layout.h"

namespace heddle::runtime {

// Of a function that only says when it begins and ends.
struct CountedFrame {
  HeddleFrame frame;
  uint64_t stack;  // where it is: what lies below has been left
};

void enter_function(const void* return_address, uint64_t stack);
void leave_function();

// The calling thread goes on there: what lies below on the stack has been left.
void leave_frames_below(uint64_t stack);

}  // namespace heddle::runtime
