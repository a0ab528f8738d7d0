// Call stacks as numbers, the same for the same stack (Channel::context).
#pragma once

#include <cstdint>

#include "runtime/layout.h"
#include "runtime/registers.h"

namespace heddle::runtime {

void reserve_contexts();

// The stack that ends with this return address.
uint32_t context_of(uint32_t caller, const void* pc);
// The stack down to the frame; 0: there is none.
HEDDLE_KEEPS_REGISTERS uint32_t number_frame(HeddleFrame* frame);
HEDDLE_INLINE uint32_t context_of(HeddleFrame* frame) {
  if (frame == nullptr) return 0;
  return frame->context != 0 ? static_cast<uint32_t>(frame->context) : number_frame(frame);
}

}  // namespace heddle::runtime
