// Threads of pthread: how they begin, end and are waited for.
#include "runtime/interpose/threads.h"

#include <pthread.h>

#include <atomic>
#include <climits>

#include "runtime/connection.h"
#include "runtime/flow_thread.h"
#include "runtime/inside.h"
#include "runtime/interpose/real.h"
#include "runtime/objects.h"
#include "runtime/own_variables.h"
#include "runtime/shadow.h"
#include "runtime/sync.h"
#include "runtime/system_code.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

constinit std::atomic<uint64_t> made{0};    // threads
constinit std::atomic<uint64_t> joined{0};  // of them, by somebody

struct Start {
  void* (*body)(void*);
  void* argument;
  Thread* thread;
  Published forked;
  bool is_between_tasks;  // whoever begins it is: it has tasks to run, and does nothing else of the program's
};

pthread_key_t end_key;  // its destructor runs when a thread ends, behind those of thread_local objects

// Another thread may have had the same stack.
void forget_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* stack = nullptr;
  std::size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &stack, &size) == 0) forget(stack, size);
  ::pthread_attr_destroy(&attributes);
}

// The destructors of thread-local objects have run. Our key is older than any other, so the standard library
// makes promises ready (set_value_at_thread_exit) after this.
void publish_what_waits_for_end() {
  if (this_thread == nullptr) return;
  for (uint32_t i = 0; i < this_thread->at_end.size(); ++i) {
    releasing_shared(this_thread->at_end[i]);
    tell_handed_over(this_thread->at_end[i], nullptr);
  }
  this_thread->at_end.clear();
}

// The thread ends when all destructors of its thread-local objects and keys have run: those that set keys
// again are run again, as often as the system does it.
void at_thread_end(void* rounds_left) {
  const auto rounds = reinterpret_cast<uint64_t>(rounds_left);
  publish_what_waits_for_end();
  if (rounds > 1) {
    ::pthread_setspecific(end_key, reinterpret_cast<void*>(rounds - 1));
    return;
  }
  if (this_thread == nullptr) return;
  const Inside inside;  // handlers that come after the end are not its own
  tell(Operation::kThreadEnd, nullptr, nullptr);
  leave_locals();
  leave_labels();
  give_back_marks();
  give_back_own_variables();
  detach();
}

void* run_thread(void* given) {
  auto* const start = static_cast<Start*>(given);
  {
    const Inside inside;  // handlers of signals are a part of the thread, and come after its beginning
    attach(start->thread);
    this_thread->acquire(start->forked);
    if (start->is_between_tasks) ++flow_thread.pauses;
    tell(Operation::kThreadBegin, nullptr, nullptr);
  }
  forget_stack();
  void* (*const body)(void*) = start->body;
  void* const argument = start->argument;
  destroy(start);
  const pthread_t self = ::pthread_self();
  name_thread(this_thread, &self);
  ::pthread_setspecific(end_key, reinterpret_cast<void*>(uint64_t{PTHREAD_DESTRUCTOR_ITERATIONS}));
  // When it exits or is cancelled, its functions are left and the destructors of its keys still run.
  struct AllFrames {
    ~AllFrames() { heddle_thread_state.frame = nullptr; }
  };
  const AllFrames frames;
  return body(argument);
}

// While it lives, the calling thread waits for that one, or is cancelled.
class Awaiting {
 public:
  explicit Awaiting(const Thread* awaited) { set(awaited); }
  ~Awaiting() { set(nullptr); }
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;

 private:
  static void set(const Thread* awaited) {
    if (this_thread == nullptr) return;
    const Locked locked(threads_lock);
    this_thread->awaits = awaited;
  }
};

// Waits, with the real function, for the thread.
template <class Join>
int join_with(pthread_t id, const void* pc, Join join) {
  Thread* const thread = find_thread(id);  // now: another one may have its name when this returns
  const int result = join();
  if (result != 0 || thread == nullptr) return result;
  if (this_thread != nullptr) {
    this_thread->acquire(thread->end, {.stream = thread->stream});
    // No function that joins a thread is atomic. Nobody has said that it should be, unless in so many words.
    const uint32_t left = leave_atomic_blocks(*this_thread, pc, /*only_by_default=*/true);
    tell(*this_thread,
         {.operation = static_cast<uint8_t>(Operation::kJoin), .pc = pc, .extra = thread->stream});
    enter_atomic_blocks_again(*this_thread, left, pc);
    if (joined.fetch_add(1) + 1 == made.load()) become_serial();
  }
  let_go_of_name(thread);
  return result;
}

[[gnu::constructor(101)]] void begin() {
  if (is_switched_off()) return;
  attach_main_thread();
  if (::pthread_key_create(&end_key, at_thread_end) != 0)
    fail("the system has no key for the ends of threads");
}

// What the thread keeps and what checking needs of its stack comes on top of what the program has reckoned
// with. A stack that the program has made itself is left as it is.
const pthread_attr_t* with_room(const pthread_attr_t* attributes, pthread_attr_t& roomy) {
  constexpr std::size_t kSmall = std::size_t{1} << 18;
  constexpr std::size_t kOnTop = std::size_t{1} << 16;
  if (attributes == nullptr) return nullptr;
  std::size_t size = 0;
  void* own = nullptr;
  ::pthread_attr_getstacksize(attributes, &size);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  ::pthread_attr_getstackaddr(attributes, &own);
#pragma clang diagnostic pop
  if (own != nullptr || size >= kSmall) return attributes;
  roomy = *attributes;
  return ::pthread_attr_setstacksize(&roomy, size + kOnTop) == 0 ? &roomy : attributes;
}

bool is_joinable(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) ::pthread_attr_getdetachstate(attributes, &state);
  return state == PTHREAD_CREATE_JOINABLE;
}

}  // namespace

void publish_at_thread_end(const void* object, const void* pc) {
  if (this_thread == nullptr) return;
  releasing_shared(object);  // now, too: the main thread has no end
  tell_handed_over(object, pc);
  this_thread->at_end.add() = object;
}

void count_threads_anew() {
  made.store(0);
  joined.store(0);
}

int create_thread(pthread_t* id, const pthread_attr_t* attributes, void* (*body)(void*), void* argument,
                  const void* pc) {
  if (this_thread == nullptr) {
    pthread_attr_t roomy;
    return REAL(pthread_create)(id, with_room(attributes, roomy), body, argument);
  }
  auto* const start = create<Start>();
  start->body = body;
  start->argument = argument;
  pc = outside_system_code(pc);
  connect_to_monitor();
  tell_untold_blocks(*this_thread, pc);
  const bool may_be_joined = is_joinable(attributes);
  Thread* const thread = start->thread = make_thread(this_thread, may_be_joined);
  start->forked = this_thread->publish();
  start->is_between_tasks = flow_thread.pauses > 0;
  become_parallel();
  made.fetch_add(1);
  tell(*this_thread,
       {.operation = static_cast<uint8_t>(Operation::kFork), .pc = pc, .extra = start->thread->stream});
  pthread_attr_t roomy;
  const int result = REAL(pthread_create)(id, with_room(attributes, roomy), run_thread, start);
  if (result != 0) {
    made.fetch_sub(1);
    destroy(start);
    let_go(thread, may_be_joined ? 3 : 2);
    return result;
  }
  name_thread(thread, id);
  let_go(thread);
  return result;
}

int join_thread(pthread_t id, void** value, const void* pc) {
  pc = outside_system_code(pc);
  const Thread* const thread = find_thread(id);
  if (thread != nullptr) tell_waiting(kForThread, nullptr, pc, thread->stream);
  const int result = join_with(id, pc, [&] {
    const Awaiting awaiting(thread);
    return REAL(pthread_join)(id, value);
  });
  if (result != 0) tell_gave_up(nullptr, pc);
  return result;
}

int detach_thread(pthread_t id) {
  Thread* const thread = find_thread(id);
  const int result = REAL(pthread_detach)(id);
  if (result == 0 && thread != nullptr) let_go_of_name(thread);
  return result;
}

HEDDLE_INTERPOSE int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*body)(void*),
                                    void* argument) {
  return create_thread(id, attributes, body, argument, HEDDLE_HERE);
}
HEDDLE_INTERPOSE int pthread_join(pthread_t id, void** value) { return join_thread(id, value, HEDDLE_HERE); }
HEDDLE_INTERPOSE int pthread_tryjoin_np(pthread_t id, void** value) {
  return join_with(id, HEDDLE_HERE, [&] { return REAL(pthread_tryjoin_np)(id, value); });
}
HEDDLE_INTERPOSE int pthread_timedjoin_np(pthread_t id, void** value, const timespec* until) {
  return join_with(id, HEDDLE_HERE, [&] { return REAL(pthread_timedjoin_np)(id, value, until); });
}
HEDDLE_INTERPOSE int pthread_clockjoin_np(pthread_t id, void** value, clockid_t clock,
                                          const timespec* until) {
  return join_with(id, HEDDLE_HERE, [&] { return REAL(pthread_clockjoin_np)(id, value, clock, until); });
}

HEDDLE_INTERPOSE int pthread_detach(pthread_t id) { return detach_thread(id); }

}  // namespace heddle::runtime
