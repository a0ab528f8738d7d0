// Whether a thread is in the runtime. Then no handler of a signal may run in it, since it would come in
// again, where locks are held and things are half done. The handler's turn comes when the thread leaves
// (runtime/interpose/signals.cpp).
#pragma once

#include <cstdint>

#include "runtime/layout.h"
#include "runtime/registers.h"

namespace heddle::runtime {

// In HeddleThreadState::inside, its sign: a handler waits for its turn.
inline constexpr uint32_t kSignalWaits = uint32_t{1} << 31;

// A handler waits, and the thread may have left.
HEDDLE_KEEPS_REGISTERS void look_for_signal();

// One instruction each: a signal comes before or after.
HEDDLE_INLINE void enter_runtime() {
  asm volatile("incl %0" : "+m"(heddle_thread_state.inside) : : "memory");
}
HEDDLE_INLINE void leave_runtime() {
  bool waits;
  asm volatile("decl %0" : "+m"(heddle_thread_state.inside), "=@ccs"(waits) : : "memory");
  if (__builtin_expect(static_cast<long>(waits), 0) != 0) look_for_signal();
}

class Inside {
 public:
  HEDDLE_INLINE Inside() { enter_runtime(); }
  HEDDLE_INLINE ~Inside() { leave_runtime(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace heddle::runtime
