// A lock for a few instructions; waits by spinning, then by yielding. Never held across a call into the
// program or libc, but for one place, which says why (interpose/exceptions.cpp).
#pragma once

#include <sched.h>

#include <atomic>

#include "runtime/inside.h"

namespace heddle::runtime {

class SpinLock {
 public:
  bool try_lock() { return !is_locked_.exchange(true, std::memory_order_acquire); }
  void lock() {
    while (is_locked_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() { is_locked_.store(false, std::memory_order_release); }

 private:
  void wait() const {
    for (int tries = 0; is_locked_.load(std::memory_order_relaxed); ++tries)
      if (tries < 100) {
        __builtin_ia32_pause();
      } else {
        ::sched_yield();
      }
  }

  std::atomic<bool> is_locked_{false};
};

class Locked {
 public:
  explicit Locked(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Inside inside_;
  SpinLock& lock_;
};

}  // namespace heddle::runtime
