#include "runtime/open_marks.h"

#include <setjmp.h>
#include <unistd.h>

#include "runtime/flow.h"
#include "runtime/flow_thread.h"
#include "runtime/inside.h"
#include "runtime/message.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

extern "C" int setjmp(jmp_buf) noexcept;  // a macro's name, too
extern "C" void __longjmp_chk(jmp_buf, int) __attribute__((noreturn));

namespace heddle::runtime {

namespace {

OpenMarks& marks() { return flow_thread.marks; }

// How many of the open marks the jump stays in.
uint32_t marks_around(const void* buffer, uint64_t stack, bool& is_over) {
  const GrowingArray<OpenMark>& open = marks().open;
  uint32_t kept = open.size();
  for (uint32_t i = 0; i < marks().targets.size(); ++i) {
    const JumpTarget& target = marks().targets[i];
    if (target.buffer != buffer || target.stack != stack) continue;
    while (kept > 0 && open[kept - 1].number > target.inside) --kept;
    is_over = target.inside != 0 && (kept == 0 || open[kept - 1].number != target.inside);
    return kept;
  }
  while (kept > 0 && reinterpret_cast<uint64_t>(open[kept - 1].frame) < stack) --kept;
  return kept;
}

[[noreturn]] void refuse_jump(const void* pc, const char* what) {
  if (Thread* const thread = telling_thread(); thread != nullptr)
    tell_unordered(*thread, {.operation = kToldBadJump, .pc = pc});
  say("longjmp %s. Have the setjmp in the same iteration, in a body that is not over, or throw an exception",
      what);
  ::_exit(2);
}

}  // namespace

void begin_mark(bool is_task, const char* frame) {
  const Inside inside;
  marks().open.add() = {frame, ++marks().numbers, is_task};
}

void end_mark() {
  if (marks().open.empty()) return;
  marks().open.remove_last();
  if (marks().open.empty()) marks().targets.clear();
}

void give_back_marks() {
  marks().open.give_back();
  marks().targets.give_back();
  marks() = {};
}

bool is_setjmp(const void* function) {
  return function == reinterpret_cast<const void*>(&::_setjmp) ||
         function == reinterpret_cast<const void*>(&::__sigsetjmp) ||
         function == reinterpret_cast<const void*>(&(::setjmp));
}

bool is_longjmp(const void* function) {
  return function == reinterpret_cast<const void*>(&::longjmp) ||
         function == reinterpret_cast<const void*>(&::_longjmp) ||
         function == reinterpret_cast<const void*>(&::siglongjmp) ||
         function == reinterpret_cast<const void*>(&::__longjmp_chk);
}

void meet_setjmp(const void* buffer, uint64_t stack) {
  const GrowingArray<OpenMark>& open = marks().open;
  if (open.empty()) return;  // whoever jumps there from inside leaves all
  const Inside inside;
  uint32_t i = 0;
  while (i < marks().targets.size() && marks().targets[i].buffer != buffer) ++i;
  if (i == marks().targets.size()) marks().targets.add();
  marks().targets[i] = {buffer, stack, open.back().number};
}

void leave_marks(const void* buffer, uint64_t stack, const void* pc) {
  heddle_flow_state.result = kNoLabel;  // of whom setjmp's caller asks, who is not told what it returns
  GrowingArray<OpenMark>& open = marks().open;
  if (open.empty()) return;
  bool is_over = false;
  const uint32_t kept = marks_around(buffer, stack, is_over);
  for (uint32_t i = kept; i < open.size(); ++i)
    if (open[i].is_task)
      refuse_jump(pc,
                  "leaves an iteration of a parallel loop, or a body of parallel_invoke: those that run at "
                  "the same time would be left behind");
  if (is_over)
    refuse_jump(pc, "leads back into the body of an if (HEDDLE_MAYBE) or an iteration that is over");
  while (is_built_to_follow && open.size() > kept) leave_maybe(pc);
}

}  // namespace heddle::runtime
