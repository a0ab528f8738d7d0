// thread_local variables. The sequential version has one thread and so one of each, which one iteration finds
// as another has left it; in a parallel run each thread has its own. So what an iteration reads there before
// it has written it is told, and that iterations write there: the monitor says where both happen.
//
// They are known by where they lie from the thread pointer, which is the same for all threads. Those of
// libraries that were loaded later lie elsewhere, and are not seen.
#pragma once

#include <cstdint>

#include "runtime/registers.h"

namespace heddle::runtime {

extern uint64_t own_bytes;  // of such variables, right below the thread pointer; 0: not known yet
void find_own_variables();  // when the program begins its first parallel construct

HEDDLE_INLINE uint64_t below_thread_pointer(const void* address) {
  uint64_t pointer = 0;
  asm("movq %%fs:0, %0" : "=r"(pointer));
  return pointer - reinterpret_cast<uint64_t>(address);
}
// 0 is the thread pointer itself.
HEDDLE_INLINE bool is_own_variable(const void* address) {
  return below_thread_pointer(address) - 1 < own_bytes;
}

// By the iteration that the thread is in, if it is in one.
void own_variable_is_read(const void* address, const char* name, const void* pc);
void own_variable_is_written(const void* address);
void give_back_own_variables();  // the thread ends

}  // namespace heddle::runtime
