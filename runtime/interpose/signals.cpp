// Handlers of signals. A handler is part of the thread it runs in, and checked like the rest.
//
// When its thread is in the runtime, the handler waits until the thread leaves: what came is kept, and all
// other signals stay blocked until the handler has run, so there is never more than one to keep. Those that
// the thread has brought upon itself, by a wrong address for one, cannot wait. Their handlers run at once,
// and nothing that they do is checked.
//
// The system blocks all signals when it calls us, so that we are not interrupted in turn, and we block those
// that the program wants blocked when we call its handler.
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
#include <utility>

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
  std::atomic<Mask> mask;             // to be blocked while it runs, as the program said …
  std::atomic<Mask> blocks;           // … and with the signal itself, if that is blocked, too
  std::atomic<bool> wants_details;    // SA_SIGINFO
  std::atomic<bool> wants_own_stack;  // SA_ONSTACK
};
constinit Action actions[NSIG];
constinit SpinLock actions_lock;

struct Kept {
  int signal;
  Handler handler;
  Mask blocks;
  bool wants_own_stack;
  siginfo_t details;
  ucontext_t context;
};
__thread Kept kept __attribute__((tls_model("initial-exec")));
// What the calling thread has blocked while it waits in sigsuspend(); null: it does not.
__thread const Mask* suspended_with __attribute__((tls_model("initial-exec")));
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

// A fault of its own cannot wait, nor can abort(), which does not go on. The same signal sent by somebody
// can.
bool cannot_wait(int signal, const siginfo_t& details) {
  return signal == SIGABRT || ((kBroughtUponItself & bit_of(signal)) != 0 && details.si_code > 0);
}

// The kernel's mask while a handler runs, as the program asked for it. `before` is what is to be after it.
Mask mask_within(Mask before, Mask blocks) {
  return (suspended_with != nullptr ? *std::exchange(suspended_with, nullptr) : before) | blocks;
}

// All other signals are blocked here, but those that a thread can bring upon itself.
void handle(int signal, siginfo_t* details, void* given) {
  const Action& action = actions[signal];
  const Handler handler = action.handler.load();
  const Mask blocks = action.blocks.load();
  auto* const context = static_cast<ucontext_t*>(given);
  const bool is_inside = heddle_thread_state.inside != 0;
  const bool another_waits = (heddle_thread_state.inside & kSignalWaits) != 0;
  if (!is_inside || another_waits || unchecked != nullptr || cannot_wait(signal, *details)) {
    set_mask(mask_within(mask_of(context), blocks));
    if (!is_inside) return run_checked(handler, signal, details, given);
    return run_unchecked(handler, signal, details, given);
  }
  kept.signal = signal;
  kept.handler = handler;
  kept.blocks = blocks;
  kept.wants_own_stack = action.wants_own_stack.load();
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
    const Mask all = ~kBroughtUponItself;
    __builtin_memcpy(&result.sa_mask, &all, sizeof(all));
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
  const Mask old_mask = known.mask.load();
  const Mask old_blocks = known.blocks.load();
  const bool old_details = known.wants_details.load();
  const bool old_own_stack = known.wants_own_stack.load();
  struct sigaction system = {};
  if (action != nullptr) {
    system = ours(signal, *action);
    if (is_function(*action)) {
      const bool blocks_itself = (action->sa_flags & SA_NODEFER) == 0;
      known.handler = action->sa_sigaction;
      known.mask = mask_of(action->sa_mask);
      known.blocks = known.mask | (blocks_itself ? bit_of(signal) : 0);
      known.wants_details = (action->sa_flags & SA_SIGINFO) != 0;
      known.wants_own_stack = (action->sa_flags & SA_ONSTACK) != 0;
    }
  }
  struct sigaction old = {};
  const int result = REAL(sigaction)(signal, action != nullptr ? &system : nullptr, &old);
  if (result != 0) {
    known.handler = old_handler;
    known.mask = old_mask;
    known.blocks = old_blocks;
    known.wants_details = old_details;
    known.wants_own_stack = old_own_stack;
    return result;
  }
  if (before == nullptr) return result;
  *before = old;
  if (old.sa_sigaction == handle) {
    before->sa_sigaction = old_handler;
    __builtin_memcpy(&before->sa_mask, &old_mask, sizeof(old_mask));
    if (!old_details) before->sa_flags &= ~SA_SIGINFO;
  } else if (old.sa_handler == question_action().sa_handler) {
    *before = {};  // nobody has set it
  }
  return result;
}

// The program has said where handlers are to have their stack, and the thread is not there already.
bool has_own_stack(const ucontext_t& context) {
  return context.uc_stack.ss_size > 0 && (context.uc_stack.ss_flags & (SS_DISABLE | SS_ONSTACK)) == 0;
}
template <class Function>
void run_on_own_stack(const stack_t& stack, Function& function) {
  void (*const call)(void*) = [](void* f) { (*static_cast<Function*>(f))(); };
  const uint64_t top = (reinterpret_cast<uint64_t>(stack.ss_sp) + stack.ss_size) & ~uint64_t{15};
  void* argument = &function;
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "callq *%[call]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(argument)
      : [top] "r"(top), [call] "r"(call)
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15");
}

}  // namespace

void run_signal_that_waits() {
  Kept now = kept;  // another one may come while it runs
  heddle_thread_state.inside = 0;
  set_mask(mask_of(&now.context) | now.blocks);
  auto run = [&] { run_checked(now.handler, now.signal, &now.details, &now.context); };
  if (now.wants_own_stack && has_own_stack(now.context)) {
    run_on_own_stack(now.context.uc_stack, run);
  } else {
    run();
  }
  set_mask(mask_of(&now.context));  // which the handler may have changed
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
// A handler that ends the wait has blocked what the wait has, not what was before.
HEDDLE_INTERPOSE int sigsuspend(const sigset_t* mask) {
  struct Suspended {  // or the thread is cancelled
    explicit Suspended(const Mask& blocked) { suspended_with = &blocked; }
    ~Suspended() { suspended_with = nullptr; }
  };
  const Mask blocked = mask_of(*mask);
  const Suspended suspended(blocked);
  return REAL(sigsuspend)(mask);
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
