#include "runtime/frames.h"

#include "runtime/memory.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

constexpr uint32_t kMost = 1U << 16;  // deeper ones are not listed

uint64_t place_of(const HeddleFrame* frame) {
  const Thread& thread = *this_thread;
  const auto* const counted = reinterpret_cast<const CountedFrame*>(frame);
  const bool is_counted = thread.counted_frames != nullptr && counted >= thread.counted_frames &&
                          counted < thread.counted_frames + kMost;
  return is_counted ? counted->stack : reinterpret_cast<uint64_t>(frame);
}

// A signal's handler may come between what is done before and after: it finds a frame that is listed, and
// takes the ones above for itself.
void let_handlers_see() { asm volatile("" ::: "memory"); }

void leave_inner(Thread& thread) {
  const uint32_t index = thread.counted_frame_count - 1;
  if (index < kMost) heddle_thread_state.frame = thread.counted_frames[index].frame.caller;
  let_handlers_see();
  thread.counted_frame_count = index;
}

}  // namespace

void enter_function(const void* return_address, uint64_t stack) {
  Thread* const thread = this_thread;
  if (thread == nullptr) return;
  if (thread->counted_frames == nullptr)
    thread->counted_frames =
        static_cast<CountedFrame*>(reserve(sizeof(CountedFrame) * kMost, "a thread's calls"));
  const uint32_t index = thread->counted_frame_count++;
  if (index >= kMost) return;
  let_handlers_see();
  CountedFrame& fresh = thread->counted_frames[index];
  fresh = {{heddle_thread_state.frame, return_address, 0}, stack};
  let_handlers_see();
  heddle_thread_state.frame = &fresh.frame;
}

void leave_function() {
  Thread* const thread = this_thread;
  if (thread != nullptr && thread->counted_frame_count > 0) leave_inner(*thread);
}

void leave_frames_below(uint64_t stack) {
  Thread* const thread = this_thread;
  if (thread == nullptr) return;
  while (thread->counted_frame_count > 0 &&
         (thread->counted_frame_count > kMost ||
          thread->counted_frames[thread->counted_frame_count - 1].stack < stack))
    --thread->counted_frame_count;
  // The outermost that has been left; on its way may be those of a signal's own stack.
  HeddleFrame* left = nullptr;
  for (HeddleFrame* frame = heddle_thread_state.frame; frame != nullptr; frame = frame->caller)
    if (place_of(frame) < stack) left = frame;
  if (left != nullptr) heddle_thread_state.frame = left->caller;
}

}  // namespace heddle::runtime
