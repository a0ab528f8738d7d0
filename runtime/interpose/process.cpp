// How the process ends, forks and loads code.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "runtime/connection.h"
#include "runtime/groups.h"
#include "runtime/interpose/exceptions.h"
#include "runtime/interpose/real.h"
#include "runtime/interpose/threads.h"
#include "runtime/memory.h"
#include "runtime/numbers.h"
#include "runtime/objects.h"
#include "runtime/open_groups.h"
#include "runtime/ownership.h"
#include "runtime/sweep.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

sigset_t signals_before;  // under threads_lock

// No sweep is under way, and no thread comes or goes, while the process is copied. No handler of a signal
// comes in between, which would wait for the lock that its own thread has.
void before_fork() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  threads_lock.lock();
  signals_before = before;
}
void end_fork() {
  const sigset_t before = signals_before;
  threads_lock.unlock();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
void in_parent() { end_fork(); }

// The other threads are gone, in the middle of what they did: their locks are open, and what they had half
// done is left alone.
void in_child() {
  leave_free_memory();
  leave_free_groups();
  leave_objects_to_parent();
  unlock_numbers();
  unlock_open_groups();
  unlock_exceptions();
  allow_sweeps();
  if (this_thread != nullptr) give_pages_to_everybody();
  leave_monitor_to_parent();
  count_threads_anew();
  told_per_stretch = &nothing_told;
  tells_all_of_stretch = false;
  tells_every_access = false;
  if (this_thread != nullptr) {
    forget_all_syncs();
    become_only_thread();
    this_thread->blocks.leave_untold();
    this_thread->chunk = nullptr;
    this_thread->left_to_tell = 0;
  }
  end_fork();
}

void at_quick_exit() {
  const int exit_code = finish_with_monitor(0);
  if (exit_code != 0) REAL(_exit)(exit_code);
}

[[gnu::constructor(102)]] void begin() {
  ::pthread_atfork(before_fork, in_parent, in_child);
  ::at_quick_exit(at_quick_exit);  // before all others: it runs after them
}

// After all that the program does at its end: this library is loaded before it.
[[gnu::destructor(101)]] void end() {
  const int exit_code = finish_with_monitor(0);
  if (exit_code == 0) return;
  ::fflush(nullptr);
  REAL(_exit)(exit_code);
}

}  // namespace

HEDDLE_INTERPOSE void _exit(int exit_code) {
  REAL(_exit)(finish_with_monitor(exit_code));
  __builtin_unreachable();
}
HEDDLE_INTERPOSE void _Exit(int exit_code) {
  REAL(_exit)(finish_with_monitor(exit_code));
  __builtin_unreachable();
}

// The dynamic linker looks at who calls it, so that must stay the program.
HEDDLE_INTERPOSE void* dlopen(const char* file, int flags) {
  modules_have_changed.store(true);
  static decltype(::dlopen)* const real = REAL(dlopen);
  [[clang::musttail]] return real(file, flags);
}

}  // namespace heddle::runtime
