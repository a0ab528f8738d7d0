// Code that the compiler plug-in puts into the program calls the runtime in the middle of anything, and does
// not save registers for it. So the slow paths (access.cpp, rare_access.cpp) are compiled without vector
// registers and keep all others; what cannot live with that is called through keep_registers().
#pragma once

#include <cstdint>

#define HEDDLE_INLINE [[gnu::always_inline]] inline
#define HEDDLE_KEEPS_REGISTERS __attribute__((preserve_all))

extern "C" HEDDLE_KEEPS_REGISTERS void heddle_keep_registers(void (*function)(void*), void* argument);

namespace heddle::runtime {

template <class Function>
HEDDLE_INLINE void keep_registers(Function& function) {
  heddle_keep_registers([](void* f) { (*static_cast<Function*>(f))(); }, &function);
}

}  // namespace heddle::runtime
