// Parallel constructs of heddle/parallel.h, and what may be left out of them.
#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "runtime/connection.h"
#include "runtime/flow.h"
#include "runtime/flow_labels.h"
#include "runtime/flow_thread.h"
#include "runtime/interface.h"
#include "runtime/interpose/real.h"
#include "runtime/message.h"
#include "runtime/objects.h"
#include "runtime/own_variables.h"
#include "runtime/shadow.h"
#include "runtime/system_code.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

bool is_built_to_follow = false;

namespace {

// The system's threads have no larger stacks.
constexpr uint64_t kLargestStack = uint64_t{1} << 26;

void tell_mark(Operation operation, const void* pc, uint64_t number = 0) {
  new_era();
  if (Thread* const thread = telling_thread(); thread != nullptr)
    tell_unordered(*thread, {.operation = static_cast<uint8_t>(operation), .pc = pc, .name = number});
}

void tell_construct(const void* pc, uint32_t is_over) {
  new_era();
  if (Thread* const thread = telling_thread(); thread != nullptr)
    tell_unordered(*thread, {.operation = kToldConstruct, .pc = pc, .extra = is_over});
}

// What the next task puts there is something else; so is what the task around it does, or did.
void forget_stack_below(const char* frame) {
  if (follows_data && flow_thread.deepest < frame)
    forget(flow_thread.deepest, static_cast<std::size_t>(frame - flow_thread.deepest));
  flow_thread.deepest = frame;
}

// In a part of the thread's stack that functions have left. Stacks of other threads may lie there, too.
bool is_on_left_stack(const char* memory, const char* here) {
  if (memory >= here || memory < here - kLargestStack) return false;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return false;
  void* begin = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&attributes, &begin, &size);
  ::pthread_attr_destroy(&attributes);
  return memory >= begin;
}

void end_maybe(const void* pc) {
  end_mark();
  if (flow_thread.maybes > 0) --flow_thread.maybes;
  tell_mark(Operation::kMaybeEnd, pc);
}

}  // namespace

// Without the body there would be no exception, and no jump, so what comes next depends on the body: a value
// that is assigned in it and decides something behind it.
void leave_maybe(const void* pc) {
  static std::atomic_flag is_said;
  if (!is_said.test_and_set())
    say("an exception or longjmp leaves the body or the condition of an if (HEDDLE_MAYBE): the sequential "
        "version may leave it out, and then there is none; so ndseq takes it for needed wherever one does");
  const uint32_t label = follows_data ? joined_now({}, pc) : 0;
  end_maybe(pc);
  branch(label, pc);
}

// From the constructors of files compiled with --heddle-dataflow.
HEDDLE_INTERPOSE void heddle_flow_is_built(const Object* globals, uint64_t count) {
  refuse_unknown_code(__builtin_return_address(0));
  is_built_to_follow = true;
  add_globals(globals, count);
  // For measuring: programs without constructs, from their second thread on.
  if (::getenv("HEDDLE_FOLLOW_ALL") != nullptr) follows_data = true;
  if (::getenv("HEDDLE_EVERY_STEP") != nullptr) tells_every_step = true;
}

// From functions that have local variables whose address goes anywhere.
HEDDLE_INTERPOSE void heddle_flow_locals(const char* top, const Object* locals, uint64_t count) {
  add_locals(top, locals, count);
}

HEDDLE_INTERPOSE void heddle_begin_construct() {
  if (!is_built_to_follow || this_thread == nullptr || is_switched_off()) return;
  connect_to_monitor();
  find_own_variables();
  follows_data = true;
  tell_construct(HEDDLE_HERE, /*is_over=*/0);
  // How the iterations are given out is no doing of the program's.
  ++flow_thread.pauses;
}
HEDDLE_INTERPOSE void heddle_end_construct() {
  if (flow_thread.pauses > 0) --flow_thread.pauses;
  tell_construct(HEDDLE_HERE, /*is_over=*/1);
}

HEDDLE_INTERPOSE void heddle_begin_task(uint64_t index) {
  heddle_flow_state.callee = nullptr;
  heddle_flow_state.outside = 0;
  if (flow_thread.pauses > 0) --flow_thread.pauses;
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  if (++flow_thread.tasks == 1) {
    flow_thread.deepest = here;
    flow_thread.deepest_possible = here - kLargestStack;
  }
  forget_stack_below(here);
  begin_mark(/*is_task=*/true, here);
  tell_mark(Operation::kTaskBegin, HEDDLE_HERE, index);
}

HEDDLE_INTERPOSE void heddle_end_task() {
  end_mark();
  tell_mark(Operation::kTaskEnd, HEDDLE_HERE);
  ++flow_thread.pauses;
  forget_stack_below(static_cast<const char*>(__builtin_frame_address(0)));
  if (--flow_thread.tasks == 0) flow_thread.deepest = flow_thread.deepest_possible = nullptr;
}

HEDDLE_INTERPOSE void heddle_begin_maybe() {
  ++flow_thread.maybes;
  begin_mark(/*is_task=*/false, static_cast<const char*>(__builtin_frame_address(0)));
  tell_mark(Operation::kMaybeBegin, HEDDLE_HERE);
}
HEDDLE_INTERPOSE void heddle_end_maybe() { end_maybe(HEDDLE_HERE); }
HEDDLE_INTERPOSE void heddle_leave_maybe() { leave_maybe(HEDDLE_HERE); }
// Code without labels calls it; code with labels has the condition's own (heddle_flow_out).
HEDDLE_INTERPOSE bool heddle_end_condition(bool value) {
  end_maybe(HEDDLE_HERE);
  return value;
}

HEDDLE_INTERPOSE void heddle_focus(const void* memory, std::size_t size) {
  if (follows_data && is_on_left_stack(static_cast<const char*>(memory),
                                       static_cast<const char*>(__builtin_frame_address(0))))
    forget(memory, size);
  if (Thread* const thread = telling_thread(); thread != nullptr)
    tell_unordered(*thread, {.operation = static_cast<uint8_t>(Operation::kFocus),
                             .address = memory,
                             .pc = HEDDLE_HERE,
                             .extra = static_cast<uint32_t>(size)});
}

}  // namespace heddle::runtime
