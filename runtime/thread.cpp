#include "runtime/thread.h"

#include "runtime/ownership.h"
#include "runtime/shadow.h"

__attribute__((visibility("default"))) __thread HeddleThreadState heddle_thread_state = {
    heddle::runtime::kNoStamp, heddle::runtime::kNoStamp, nullptr, nullptr, nullptr};

namespace heddle::runtime {

__thread Thread* this_thread = nullptr;
Thread** threads_by_serial = nullptr;

namespace {
constinit std::atomic<uint32_t> slots{0};
}

Published Thread::publish() {
  if (shared == nullptr) shared = clock.copy();
  new_stretch();
  return Published(shared, slot, time++);
}

Thread* make_thread() {
  Thread* const thread = create<Thread>();
  thread->slot = slots.fetch_add(1);
  thread->serial = thread->slot + 1;
  threads_by_serial[thread->serial] = thread;
  thread->memos = static_cast<Memo*>(reserve(sizeof(Memo) * Thread::kMemos, "a thread's memos"));
  return thread;
}

void attach(Thread* thread) {
  this_thread = thread;
  heddle_thread_state.shadow = shadow_base;
  heddle_thread_state.thread = thread;
  heddle_thread_state.stamp = heddle_thread_state.group = kNoStamp;
}

void detach() {
  this_thread = nullptr;
  heddle_thread_state.thread = nullptr;
}

void become_parallel() { heddle_thread_state.thread = this_thread; }

void attach_main_thread() {
  reserve_entries();
  reserve_owners();
  threads_by_serial = static_cast<Thread**>(reserve(sizeof(Thread*) << 24, "the threads"));
  reserve_shadow();
  attach(make_thread());
  heddle_thread_state.thread = nullptr;
}

}  // namespace heddle::runtime
