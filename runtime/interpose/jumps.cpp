// longjmp and its kin leave functions that do not know it.
#include <setjmp.h>

#include "runtime/frames.h"
#include "runtime/interpose/real.h"
#include "runtime/interpose/signals.h"
#include "runtime/open_marks.h"
#include "runtime/tell.h"

extern "C" void __longjmp_chk(jmp_buf, int) __attribute__((noreturn));

namespace heddle::runtime {

namespace {

// The C library keeps the stack pointer in disguise.
void leave_frames(const __jmp_buf_tag* target, const void* pc) {
  constexpr int kStackPointer = 6;
  auto stack = static_cast<uint64_t>(target->__jmpbuf[kStackPointer]);
  asm("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(stack));
  leave_handlers();
  leave_marks(target, stack, pc);
  leave_frames_below(stack);
}

}  // namespace

#define HEDDLE_JUMP(name, type)                                                   \
  HEDDLE_INTERPOSE __attribute__((noreturn)) void name(type target, int result) { \
    leave_frames(target, HEDDLE_HERE);                                            \
    REAL(name)(target, result);                                                   \
    __builtin_unreachable();                                                      \
  }
HEDDLE_JUMP(longjmp, jmp_buf)
HEDDLE_JUMP(_longjmp, jmp_buf)
HEDDLE_JUMP(siglongjmp, sigjmp_buf)
HEDDLE_JUMP(__longjmp_chk, jmp_buf)

}  // namespace heddle::runtime
