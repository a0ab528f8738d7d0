// Signals that come at any time: while their thread takes locks, allocates, synchronizes and uses memory,
// that is, very often while it is in the runtime.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "twins.h"

int unguarded;  // for all to see, so that no write is left out

namespace {

void expect(bool condition, const char* what) {
  if (!condition) std::puts(what);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

std::mutex mutex;
std::atomic<int> counter;
std::vector<int> numbers(100);
std::shared_ptr<int> shared = std::make_shared<int>();
sem_t posts;

// All that ends up in the runtime, once.
void work(int round) {
  {
    const std::lock_guard<std::mutex> locked(mutex);
    numbers[static_cast<std::size_t>(round) % numbers.size()] = round;
  }
  const std::vector<int> copy(static_cast<std::size_t>(round % 50 + 1), round);
  const std::shared_ptr<int> reference = shared;
  counter.fetch_add(copy.back() == round ? 1 : 0);
  sem_post(&posts);
  while (sem_trywait(&posts) != 0) {
  }
}

volatile std::sig_atomic_t handled;
std::atomic<int> handled_by_all;
int pipe_ends[2];

void count(int) {
  handled = handled + 1;
  handled_by_all.fetch_add(1);
  sem_post(&posts);
  sem_trywait(&posts);
  const char byte = 0;
  expect(write(pipe_ends[1], &byte, 1) == 1, "a handler cannot write");
}

// The second works until the first has sent it so many signals.
void bombard(int signals, int signal) {
  std::atomic<bool> is_over = false;
  std::atomic<int> ready = 0;
  std::thread target([&] {
    ready.store(1);
    for (int round = 0; !is_over.load(); ++round) work(round);
  });
  // Somebody else who uses the same things.
  std::thread other([&] {
    for (int round = 0; !is_over.load(); ++round) work(round);
  });
  while (ready.load() == 0) sched_yield();
  for (int i = 0; i < signals; ++i) {
    pthread_kill(target.native_handle(), signal);
    if (i % 16 == 0) work(i);
    if (i % 64 == 0) {
      char bytes[256];
      while (read(pipe_ends[0], bytes, sizeof(bytes)) > 0) {
      }
    }
  }
  is_over.store(true);
  target.join();
  other.join();
}

void begin() {
  sem_init(&posts, 0, 1);
  expect(pipe(pipe_ends) == 0, "no pipe");
  const int flags = O_NONBLOCK;
  fcntl(pipe_ends[0], F_SETFL, flags);
}

void many_signals() {
  begin();
  handle(SIGUSR1, count);
  bombard(5'000, SIGUSR1);
  expect(handled > 0 && handled == handled_by_all.load(), "a handler did not run to its end");
}

// Each is delivered, in order, with what was sent along.
std::atomic<int> values;
void take_value(int, siginfo_t* details, void*) {
  expect(details->si_value.sival_int == values.fetch_add(1), "a value is missing");
}

void queued_signals() {
  begin();
  struct sigaction action = {};
  action.sa_sigaction = take_value;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGRTMIN, &action, nullptr);
  constexpr int kValues = 5'000;
  std::atomic<int> ready = 0;
  std::thread target([&] {
    ready.store(1);
    for (int round = 0; values.load() < kValues; ++round) work(round);
  });
  while (ready.load() == 0) sched_yield();
  for (int i = 0; i < kValues; ++i) {
    sigval value;
    value.sival_int = i;
    while (pthread_sigqueue(target.native_handle(), SIGRTMIN, value) == EAGAIN) sched_yield();
  }
  target.join();
}

// What the thread did before the signal is published by its handler, and by nothing else.
constexpr int kRounds = 300;
int results[kRounds];
sem_t published;
void publish(int) { sem_post(&published); }

void handler_publishes() {
  begin();
  sem_init(&published, 0, 0);
  handle(SIGUSR1, publish);
  std::thread target([] {
    for (int round = 0; round < kRounds; ++round) {
      results[round] = round;
      schedule::end_turn();
      for (int i = 0; !schedule::has_come(2 * round + 2); ++i) work(i);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    schedule::wait_for(2 * round + 1);
    pthread_kill(target.native_handle(), SIGUSR1);
    while (sem_wait(&published) != 0) {
    }
    expect(results[round] == round, "a result is missing");
    schedule::end_turn();
  }
  target.join();
}

// A handler is checked like the rest of its thread.
void write_unguarded(int) {
  unguarded = 1;  // here: handler
}

void handler_races() {
  handle(SIGUSR1, write_unguarded);
  twins::two(
      [] {
        raise(SIGUSR1);
        schedule::end_turn();
      },
      [] {
        unguarded = 2;  // here: other
      });
}

// Nothing waits for a handler that ends the process.
void exit_at_once(int) {
  if (handled_by_all.fetch_add(1) == 100) _exit(0);
}

void handler_exits() {
  begin();
  handle(SIGUSR1, exit_at_once);
  bombard(1'000'000, SIGUSR1);
  std::puts("it did not exit");
}

// A bad address, out of which the handler jumps.
sigjmp_buf back;
void jump_back(int) { siglongjmp(back, 1); }

// Signals come faster than they are handled, so that often two come at once. Both handlers do atomic
// operations, and one jumps out of whatever it interrupted: the other one, too.
std::atomic<int> left, right;
volatile std::sig_atomic_t may_jump;
void add_left(int) {
  for (int i = 0; i < 20; ++i) left.fetch_add(1);
}
void add_right_and_jump(int) {
  right.fetch_add(1);
  if (may_jump == 0 || right.load() % 2 != 0) return;
  may_jump = 0;
  siglongjmp(back, 1);
}

void two_at_once() {
  begin();
  handle(SIGUSR1, add_left);
  handle(SIGUSR2, add_right_and_jump);
  std::atomic<bool> is_over = false;
  std::thread target([&] {
    for (volatile int round = 0; round < 20'000; round = round + 1) {
      sigsetjmp(back, 1);
      may_jump = 1;
      left.fetch_add(1);
      right.store(right.load() + 1);
      may_jump = 0;
    }
    is_over.store(true);
  });
  while (!is_over.load()) {
    pthread_kill(target.native_handle(), SIGUSR1);
    pthread_kill(target.native_handle(), SIGUSR2);
  }
  target.join();
}

// Of two kinds of queued signals, each comes in the order in which it was sent.
std::atomic<int> handled_kinds[2];
void take_in_order(int signal, siginfo_t* details, void*) {
  expect(details->si_value.sival_int == handled_kinds[signal - SIGRTMIN].fetch_add(1), "out of order");
}
void two_kinds_of_queued_signals() {
  begin();
  for (const int signal : {SIGRTMIN, SIGRTMIN + 1}) {
    struct sigaction action = {};
    action.sa_sigaction = take_in_order;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  std::atomic<bool> is_over = false;
  std::thread target([&] {
    for (int round = 0; !is_over.load(); ++round) work(round);
  });
  for (int i = 0; i < 1'000; ++i) {
    sigval value;
    value.sival_int = i;
    pthread_sigqueue(target.native_handle(), SIGRTMIN + 1, value);
    pthread_sigqueue(target.native_handle(), SIGRTMIN, value);
    while (handled_kinds[0].load() < i - 3 || handled_kinds[1].load() < i - 3) sched_yield();
  }
  while (handled_kinds[0].load() + handled_kinds[1].load() < 2'000) sched_yield();
  is_over.store(true);
  target.join();
}

// A handler that is called once, though another signal comes at the same time.
std::atomic<int> once_or_more;
void count_again(int) { once_or_more.fetch_add(1); }
void one_of_two_is_reset() {
  begin();
  handle(SIGUSR2, count_again);
  std::atomic<bool> is_over = false;
  std::thread target([&] {
    for (int round = 0; !is_over.load(); ++round) work(round);
  });
  for (int i = 0; i < 500; ++i) {
    struct sigaction action = {};
    action.sa_handler = count_again;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigaction(SIGUSR1, &action, nullptr);
    pthread_kill(target.native_handle(), SIGUSR2);
    pthread_kill(target.native_handle(), SIGUSR1);
    while (once_or_more.load() < 2 * (i + 1)) sched_yield();
  }
  is_over.store(true);
  target.join();
}

// What handlers say is to be blocked afterwards is; and they have the stack that the thread has for them.
std::atomic<int> blocked_for_good, on_own_stack;
thread_local char* own_stack;
constexpr std::size_t kOwnStack = 256 * 1024;
void block_another(int, siginfo_t*, void* context) {
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, SIGUSR2);
  const char here = 0;
  if (&here >= own_stack && &here < own_stack + kOwnStack) on_own_stack.fetch_add(1);
  blocked_for_good.fetch_add(1);
}
void masks_and_stacks() {
  begin();
  struct sigaction action = {};
  action.sa_sigaction = block_another;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  constexpr int kSignals = 300;
  std::atomic<bool> is_over = false;
  std::atomic<int> checked = -1;  // signals; the thread is ready
  std::thread target([&] {
    const std::unique_ptr<char[]> memory(new char[kOwnStack]);
    own_stack = memory.get();
    stack_t stack = {};
    stack.ss_sp = own_stack;
    stack.ss_size = kOwnStack;
    sigaltstack(&stack, nullptr);
    checked.store(0);
    for (int round = 0; !is_over.load(); ++round) {
      work(round);
      if (checked.load() == blocked_for_good.load()) continue;
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      expect(sigismember(&blocked, SIGUSR2) == 1, "what the handler has blocked is not");
      sigemptyset(&blocked);
      pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
      checked.fetch_add(1);
    }
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
  });
  for (int i = 0; i < kSignals; ++i) {
    while (checked.load() < i) sched_yield();
    pthread_kill(target.native_handle(), SIGUSR1);
  }
  while (checked.load() < kSignals) sched_yield();
  is_over.store(true);
  target.join();
  expect(on_own_stack.load() == kSignals, "a handler was not on its own stack");
}

// A signal like that of a wrong address, but sent: it can wait until nothing is half done.
void sent_fault_jumps() {
  begin();
  handle(SIGSEGV, add_right_and_jump);
  std::atomic<bool> is_over = false;
  std::thread target([&] {
    for (volatile int round = 0; !is_over.load(); round = round + 1) {
      sigsetjmp(back, 1);
      may_jump = 1;
      left.fetch_add(1);
      may_jump = 0;
    }
  });
  for (int i = 0; i < 1'000; ++i) {
    pthread_kill(target.native_handle(), SIGSEGV);
    while (right.load() <= i) sched_yield();
  }
  is_over.store(true);
  target.join();
}

// The same address is used again, and so is the variable that comes to lie there.
void atomics_at_a_bad_address() {
  begin();
  handle(SIGSEGV, jump_back);
  const long page = sysconf(_SC_PAGESIZE);
  void* const memory =
      mmap(nullptr, static_cast<std::size_t>(page), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const variable = static_cast<std::atomic<int>*>(memory);
  std::thread([&] {
    for (int round = 0; round < 100; ++round) {
      if (sigsetjmp(back, 1) == 0) {
        variable->fetch_add(1);
        std::puts("no signal");
      }
      work(round);
    }
    mprotect(memory, static_cast<std::size_t>(page), PROT_READ | PROT_WRITE);
    variable->store(1);
  }).join();
  expect(variable->load() == 1, "the variable has another value");
  munmap(memory, static_cast<std::size_t>(page));
}

void handler_jumps() {
  begin();
  handle(SIGSEGV, jump_back);
  std::thread([] {
    for (int round = 0; round < 1'000; ++round) {
      if (sigsetjmp(back, 1) == 0) {
        *reinterpret_cast<volatile int*>(8) = 1;
        std::puts("no signal");
      }
      work(round);
    }
  }).join();
}

// The program sees its own actions.
void ignore_details(int, siginfo_t*, void*) {}
void do_nothing(int) {}

void actions_are_own() {
  std::thread([] {}).join();
  struct sigaction before = {};
  sigaction(SIGUSR2, nullptr, &before);
  expect(before.sa_handler == SIG_DFL, "a signal has an action that nobody has set");
  expect(signal(SIGUSR2, do_nothing) == SIG_DFL, "another action was there before");
  expect(signal(SIGUSR2, SIG_IGN) == do_nothing, "its own handler is not known");
  expect(signal(SIGUSR2, SIG_DFL) == SIG_IGN, "its own action is not known");
  expect(signal(SIGUSR2, do_nothing) == SIG_DFL, "the default is not known");
  raise(SIGUSR2);
  struct sigaction action = {};
  action.sa_sigaction = ignore_details;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND;
  sigaction(SIGUSR2, &action, &before);
  expect(before.sa_handler == do_nothing && (before.sa_flags & SA_SIGINFO) == 0, "its flags are not known");
  sigaction(SIGUSR2, nullptr, &before);
  expect(before.sa_sigaction == ignore_details && (before.sa_flags & SA_SIGINFO) != 0, "its flags are lost");
  raise(SIGUSR2);
  sigaction(SIGUSR2, nullptr, &before);
  expect(before.sa_handler == SIG_DFL, "SA_RESETHAND does not reset");
  expect(signal(SIGUSR2, SIG_ERR) == SIG_ERR && errno == EINVAL, "SIG_ERR is no handler");
  expect(sigaction(1000, &action, nullptr) == -1 && errno == EINVAL, "there is no such signal");
}

const twins::Cases kCases = {
    {"many_signals", many_signals},
    {"queued_signals", queued_signals},
    {"handler_publishes", handler_publishes},
    {"handler_races", handler_races},
    {"handler_exits", handler_exits},
    {"handler_jumps", handler_jumps},
    {"two_at_once", two_at_once},
    {"atomics_at_a_bad_address", atomics_at_a_bad_address},
    {"two_kinds_of_queued_signals", two_kinds_of_queued_signals},
    {"one_of_two_is_reset", one_of_two_is_reset},
    {"masks_and_stacks", masks_and_stacks},
    {"sent_fault_jumps", sent_fault_jumps},
    {"actions_are_own", actions_are_own},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
