// Handlers of signals. A handler is part of the thread it runs in, and checked like the rest.
//
// When its thread is in the runtime, the handler waits until the thread leaves: what came is kept, and all
// other signals stay blocked until the handler has run, so there is never more than one to keep; who came at
// the same time is sent once more. Those that the thread has brought upon itself, by a wrong address for one,
// cannot wait. Their handlers run at once, and nothing that they do is checked.
#include "runtime/interpose/signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "runtime/atomics.h"
#include "runtime/connection.h"
#include "runtime/inside.h"
#include "runtime/interpose/real.h"
#include "runtime/question.h"
#include "runtime/spin_lock.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

using Handler = void (*)(int, siginfo_t*, void*);  // also called for those that want only the first

// A set of signals as the kernel has it.
using Mask = uint64_t;
constexpr Mask bit_of(int signal) { return Mask{1} << (signal - 1); }
constexpr Mask kBroughtUponItself = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) | bit_of(SIGILL) |
                                    bit_of(SIGTRAP) | bit_of(SIGSYS) | bit_of(SIGABRT);
// What the kernel puts on the stack is shorter than the C library's type.
constexpr std::size_t kContextBytes = offsetof(ucontext_t, uc_sigmask) + sizeof(Mask);
Mask& mask_of(ucontext_t* context) { return *reinterpret_cast<Mask*>(&context->uc_sigmask); }
Mask mask_of(const sigset_t& set) { return *reinterpret_cast<const Mask*>(&set); }
void set_mask(Mask mask) { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof(mask)); }

// What the program wants done. The kernel knows the rest.
struct Action {
  std::atomic<Handler> handler;
  std::atomic<Mask> blocks;         // while it runs
  std::atomic<bool> wants_details;  // SA_SIGINFO
};
constinit Action actions[NSIG];
constinit SpinLock actions_lock;

struct Kept {
  int signal;
  Handler handler;
  Mask blocks;
  siginfo_t details;
  ucontext_t context;
};
__thread Kept kept __attribute__((tls_model("initial-exec")));
// While handlers run in the calling thread that are not checked.
__thread Thread* unchecked __attribute__((tls_model("initial-exec")));

void run_checked(Handler handler, int signal, siginfo_t* details, void* context) {
  const int error = errno;
  Thread* const thread = this_thread;
  const uint32_t depth = thread == nullptr ? 0 : thread->library_depth;
  // What a handler does is not the library's own affair.
  if (depth > 0) {
    thread->library_depth = 0;
    heddle_thread_state.thread = is_parallel ? thread : nullptr;
  }
  handler(signal, details, context);
  if (depth > 0) {
    thread->library_depth = depth;
    heddle_thread_state.thread = nullptr;
  }
  errno = error;
}

void run_unchecked(Handler handler, int signal, siginfo_t* details, void* context) {
  Thread* const before = unchecked;
  Thread* const thread = this_thread;
  void* const checked = heddle_thread_state.thread;
  if (thread != nullptr) unchecked = thread;
  this_thread = nullptr;
  heddle_thread_state.thread = nullptr;
  handler(signal, details, context);
  this_thread = thread;
  heddle_thread_state.thread = checked;
  unchecked = before;
}

// Of several signals that come at once, the system calls the handler of the last one in front of the first
// instruction of that of the one before. So the one that waits has interrupted this one, which has
// interrupted the thread in the runtime: its turn comes next.
void send_again(int signal, siginfo_t* details, ucontext_t* context) {
  mask_of(&kept.context) = mask_of(context);
  mask_of(context) = ~kBroughtUponItself;
  ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), signal, details);
}

void handle(int signal, siginfo_t* details, void* given) {
  const Action& action = actions[signal];
  const Handler handler = action.handler.load();
  auto* const context = static_cast<ucontext_t*>(given);
  if (heddle_thread_state.inside == 0) return run_checked(handler, signal, details, given);
  if ((kBroughtUponItself & bit_of(signal)) != 0 || unchecked != nullptr)
    return run_unchecked(handler, signal, details, given);
  if ((heddle_thread_state.inside & kSignalWaits) != 0) return send_again(signal, details, context);
  kept.signal = signal;
  kept.handler = handler;
  kept.blocks = action.blocks.load();
  kept.details = *details;
  __builtin_memcpy(&kept.context, context, kContextBytes);
  kept.context.uc_mcontext.fpregs = nullptr;  // they were on the stack
  mask_of(context) = ~kBroughtUponItself;
  heddle_thread_state.inside |= kSignalWaits;
}

bool is_function(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && action.sa_handler != SIG_ERR;
}

// The program's action as the system is to have it.
struct sigaction ours(int signal, const struct sigaction& action) {
  struct sigaction result = action;
  if (is_function(action)) {
    result.sa_sigaction = handle;
    result.sa_flags |= SA_SIGINFO;
  } else if (signal == SIGUSR2 && action.sa_handler == SIG_DFL && channel != nullptr) {
    result = question_action();
  }
  return result;
}

int act(int signal, const struct sigaction* action, struct sigaction* before) {
  if (signal <= 0 || signal >= NSIG) return REAL(sigaction)(signal, action, before);
  const Locked locked(actions_lock);
  Action& known = actions[signal];
  const Handler old_handler = known.handler.load();
  const Mask old_blocks = known.blocks.load();
  const bool old_details = known.wants_details.load();
  struct sigaction system = {};
  if (action != nullptr) {
    system = ours(signal, *action);
    if (is_function(*action)) {
      const bool blocks_itself = (action->sa_flags & SA_NODEFER) == 0;
      known.handler = action->sa_sigaction;
      known.blocks = mask_of(action->sa_mask) | (blocks_itself ? bit_of(signal) : 0);
      known.wants_details = (action->sa_flags & SA_SIGINFO) != 0;
    }
  }
  struct sigaction old = {};
  const int result = REAL(sigaction)(signal, action != nullptr ? &system : nullptr, &old);
  if (result != 0) {
    known.handler = old_handler;
    known.blocks = old_blocks;
    known.wants_details = old_details;
    return result;
  }
  if (before == nullptr) return result;
  *before = old;
  if (old.sa_sigaction == handle) {
    before->sa_sigaction = old_handler;
    if (!old_details) before->sa_flags &= ~SA_SIGINFO;
  } else if (old.sa_handler == question_action().sa_handler) {
    *before = {};  // nobody has set it
  }
  return result;
}

}  // namespace

void run_signal_that_waits() {
  Kept now = kept;  // another one may come while it runs
  const Mask mask = mask_of(&now.context);
  heddle_thread_state.inside = 0;
  set_mask(mask | now.blocks);
  run_checked(now.handler, now.signal, &now.details, &now.context);
  set_mask(mask);
}

bool handles_signals() {
  return std::any_of(std::begin(actions), std::end(actions),
                     [](const Action& action) { return action.handler.load() != nullptr; });
}

void leave_handlers() {
  if (unchecked != nullptr) {
    this_thread = unchecked;
    unchecked = nullptr;
    heddle_thread_state.thread = is_parallel ? this_thread : nullptr;
  }
  if (heddle_thread_state.inside != 0 && this_thread != nullptr) abandon_atomic(*this_thread);
  if ((heddle_thread_state.inside & kSignalWaits) != 0) run_signal_that_waits();
  heddle_thread_state.inside = 0;
}

HEDDLE_INTERPOSE int sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  return act(signal, action, before);
}
HEDDLE_INTERPOSE sighandler_t signal(int signal, sighandler_t handler) {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction action = {};
  struct sigaction before;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaddset(&action.sa_mask, signal);
  return act(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace heddle::runtime
