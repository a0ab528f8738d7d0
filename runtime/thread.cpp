#include "runtime/thread.h"

#include "runtime/message.h"
#include "runtime/ownership.h"
#include "runtime/shadow.h"
#include "runtime/spans.h"
#include "runtime/sync.h"

// What a thread that is not checked finds as the state of all memory: nothing.
static char no_state[256];

__attribute__((visibility("default"))) __thread HeddleThreadState heddle_thread_state = {
    heddle::runtime::kNoStamp, heddle::runtime::kNoStamp, no_state, nullptr, nullptr, 0, 0, 0};

namespace heddle::runtime {

__thread Thread* this_thread = nullptr;
Thread** threads_by_serial = nullptr;

constinit const std::atomic<uint32_t> nothing_told{0};
const std::atomic<uint32_t>* told_per_stretch = &nothing_told;
bool tells_all_of_stretch = false;
bool tells_every_access = false;
bool is_parallel = false;
uint32_t thread_count = 0;
constinit SpinLock threads_lock;

namespace {

constinit std::atomic<uint32_t> streams{0};

constexpr std::size_t kMostThreads = std::size_t{1} << 22;
// In numbers (runtime/numbers.h). More than a sweep counts for looking at it, so that those that have ended
// are forgotten faster than they come.
constexpr uint64_t kCostOfThread = 4096;

pthread_t* names = nullptr;  // by serial; 0 for those that nobody may wait for
Thread* ended = nullptr;     // and held by nobody

// One whose end the creator knows, or whose deeds are all forgotten.
Thread* take_ended(const Thread& creator) {
  for (Thread** link = &ended; *link != nullptr; link = &(*link)->next_ended) {
    Thread* const thread = *link;
    const bool is_known = creator.clock.covers(thread->slot, thread->time - 1);
    if (!is_known && (thread->is_remembered || any_open_span())) continue;
    if (!is_known) hasten_sweep(kCostOfThread);
    *link = thread->next_ended;
    return thread;
  }
  if (ended != nullptr) hasten_sweep(kCostOfThread);
  return nullptr;
}

Thread* thread_named(pthread_t name) {
  for (uint32_t serial = 1; serial <= thread_count; ++serial)
    if (names[serial] == name) return threads_by_serial[serial];
  return nullptr;
}

Thread* make_another() {
  if (thread_count + 1 == kMostThreads) fail("more than %zu threads", kMostThreads);
  Thread* const thread = create<Thread>();
  thread->slot = thread_count;
  thread->serial = thread_count + 1;
  thread->memos = static_cast<Memo*>(reserve(sizeof(Memo) * Thread::kMemos, "a thread's memos"));
  thread->open_groups =
      static_cast<Number*>(reserve(sizeof(Number) * Thread::kOpenGroups, "a thread's open groups"));
  threads_by_serial[thread->serial] = thread;
  __atomic_store_n(&thread_count, thread_count + 1, __ATOMIC_RELEASE);
  return thread;
}

}  // namespace

Published Thread::publish() {
  const Inside inside;
  if (!needs_new_time() && (shared != nullptr || clock.size() <= Published::kFew)) return publish_again();
  if (shared == nullptr && clock.size() > Published::kFew) shared = clock.copy_without(slot);
  new_stretch();
  ++knowledge;
  is_time_used = false;
  return Published(clock, shared, share_beyond(), slot, time++);
}

Published Thread::publish_again() {
  const Inside inside;
  if (shared != nullptr || clock.size() <= Published::kFew)
    return Published(clock, shared, share_beyond(), slot, last_time());
  // It would have to have a time of its own to be learnt from.
  struct Table {
    Times* times;
    ~Table() { times->release(); }
  };
  const Table table{clock.copy_without(slot)};
  return Published(clock, table.times, share_beyond(), slot, last_time());
}

// What was given by blocks that have ended makes no difference any more.
Times* Thread::share_beyond() {
  if (beyond.is_empty()) return nullptr;
  if (any_has_given()) return beyond.copy_without(slot);
  beyond.clear();
  return nullptr;
}

Thread* make_thread(const Thread* creator, bool is_joinable) {
  const Locked locked(threads_lock);
  Thread* thread = creator != nullptr ? take_ended(*creator) : nullptr;
  if (thread != nullptr) {
    thread->start_again();
  } else {
    thread = make_another();
  }
  thread->holders = is_joinable ? 3 : 2;
  thread->has_name = !is_joinable;
  thread->stream = streams.fetch_add(1);
  thread->chunk = nullptr;
  thread->last_load = {};  // it may come to the same place of the same chunk
  thread->library_depth = 0;
  thread->locks_together = 0;
  thread->counted_frame_count = 0;
  thread->disposals = thread->left_for_disposal = 0;
  thread->at_end.clear();
  thread->held.clear();
  thread->has_untold = thread->has_told_waiting = false;
  thread->known_spans.clear();
  return thread;
}

void let_go(Thread* thread, uint32_t holders) {
  const Locked locked(threads_lock);
  thread->holders -= holders;
  if (thread->holders > 0) return;
  thread->is_remembered = true;
  thread->next_ended = ended;
  ended = thread;
}

void name_thread(Thread* thread, const pthread_t* name) {
  const Locked locked(threads_lock);
  if (thread->has_name) return;
  thread->has_name = true;
  // Somebody may just have waited for one that had the same name.
  if (Thread* const former = thread_named(*name); former != nullptr) names[former->serial] = 0;
  names[thread->serial] = *name;
}

Thread* find_thread(pthread_t name) {
  const Locked locked(threads_lock);
  return thread_named(name);
}

void let_go_of_name(Thread* thread) {
  {
    const Locked locked(threads_lock);
    names[thread->serial] = 0;
  }
  let_go(thread);
}

void attach(Thread* thread) {
  const Locked locked(threads_lock);
  thread->state = &heddle_thread_state;
  this_thread = thread;
  heddle_thread_state.shadow = shadow_base;
  heddle_thread_state.cell_mask = kCellMask;
  heddle_thread_state.half_mask = kHalfMask;
  heddle_thread_state.thread = thread;
  heddle_thread_state.stamp = heddle_thread_state.group = kNoStamp;
}

void detach() {
  Thread* const thread = this_thread;
  forget_given(*thread);
  thread->end = thread->publish();
  this_thread = nullptr;
  heddle_thread_state.thread = nullptr;
  {
    const Locked locked(threads_lock);
    thread->state = nullptr;
    thread->has_ended = true;
  }
  let_go(thread);
}

void become_parallel() {
  is_parallel = true;
  heddle_thread_state.thread = this_thread;
}

void become_serial() {
  is_parallel = false;
  heddle_thread_state.thread = nullptr;
}

void become_only_thread() {
  for_each_thread([](Thread& other) {
    other.giving_lock.unlock();
    forget_given(other);
    other.known_spans.clear();
    if (&other == this_thread) return;
    other.spare = {};  // it may have been about to change
    other.state = nullptr;
    other.has_ended = true;
    other.page = 0;
    other.is_updating = false;
    this_thread->outlive(other);
    names[other.serial] = 0;
  });
  this_thread->publish();
  forget_spans();
  become_serial();
}

void attach_main_thread() {
  reserve_entries();
  reserve_numbers();
  reserve_owners();
  reserve_syncs();
  threads_by_serial = static_cast<Thread**>(reserve(sizeof(Thread*) * kMostThreads, "the threads"));
  names = static_cast<pthread_t*>(reserve(sizeof(pthread_t) * kMostThreads, "the threads' names"));
  reserve_shadow();
  attach(make_thread(nullptr, /*is_joinable=*/false));
  heddle_thread_state.thread = nullptr;
}

}  // namespace heddle::runtime
