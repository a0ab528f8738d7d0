// The memory that holds the state of the program's memory (runtime/layout.h).
#pragma once

#include <cstddef>

namespace heddle::runtime {

extern char* shadow_base;

void reserve_shadow();

// The memory begins a new life, without the locks that were in it.
void forget(const void* memory, std::size_t size);

}  // namespace heddle::runtime
