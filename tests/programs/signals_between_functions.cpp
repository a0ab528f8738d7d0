// Signals come at any moment of a thread that calls many short functions, and their handler calls functions,
// too. Whoever asks then for the call stack must find its end.
#include <sys/time.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

constexpr int kSignals = 20000;

std::atomic<int> handled{0};
long in_handler[64];
long in_thread[64];

template <int depth>
__attribute__((noinline)) void call(long* counts) {
  if constexpr (depth == 0) {
    ++counts[handled.load(std::memory_order_relaxed) % 64];
  } else {
    call<depth - 1>(counts);
    asm volatile("" ::: "memory");  // no jump to it
  }
}

std::mutex mutex;  // of the handler only: who gives it back is asked from where

void handle(int /*signal*/) {
  {
    const std::lock_guard locked(mutex);
    call<3>(in_handler);
  }
  ++handled;
}

}  // namespace

int main() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // for the other thread, which is only there
  std::thread another([] {
    while (handled < kSignals) std::this_thread::yield();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGALRM, handle);
  itimerval often = {{0, 20}, {0, 20}};
  setitimer(ITIMER_REAL, &often, nullptr);
  while (handled < kSignals) call<20>(in_thread);
  often = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  another.join();
  std::puts("came to an end");
}
