// The iterations and `if (HEDDLE_MAYBE)` that a thread is in, for longjmp: it leaves them without their
// knowing.
//
// Where a jump leads to is known by the buffer that setjmp filled, and the stack pointer then: one function
// may have called it inside a body or in front of it. Where nobody saw that, the stack pointer alone has to
// do.
#pragma once

#include <cstdint>

#include "runtime/growing_array.h"

namespace heddle::runtime {

struct OpenMark {
  const char* frame;  // of who began it
  uint32_t number;    // no other one of the thread has it
  bool is_task;
};

struct JumpTarget {
  const void* buffer;
  uint64_t stack;   // the pointer that setjmp keeps
  uint32_t inside;  // the innermost mark then; 0: none
};

struct OpenMarks {
  GrowingArray<OpenMark> open;
  GrowingArray<JumpTarget> targets;
  uint32_t numbers;  // given
};

void begin_mark(bool is_task, const char* frame);
void end_mark();
// An `if (HEDDLE_MAYBE)` is left by an exception or a jump (runtime/tasks.cpp).
void leave_maybe(const void* pc);
void give_back_marks();  // the thread ends

bool is_setjmp(const void* function);
bool is_longjmp(const void* function);
void meet_setjmp(const void* buffer, uint64_t stack);
// Before the jump. `stack`: where it leads to.
void leave_marks(const void* buffer, uint64_t stack, const void* pc);

}  // namespace heddle::runtime
