// Mutexes and guards with the attributes of Clang's thread-safety analysis (clang -Wthread-safety), which the
// standard library's do not carry. Other compilers see plain mutexes. `heddle types infer --annotate` prints
// patches that use them.
#pragma once

#include <mutex>

#if defined(__clang__)
#define HEDDLE_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define HEDDLE_THREAD_ATTRIBUTE(x)
#endif

// A member or global: used only while the mutex is held.
#define HEDDLE_GUARDED_BY(mutex) HEDDLE_THREAD_ATTRIBUTE(guarded_by(mutex))
// A function: called only while the mutex is held.
#define HEDDLE_REQUIRES(...) HEDDLE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
// A function: called only while the mutex is not held.
#define HEDDLE_EXCLUDES(...) HEDDLE_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

namespace heddle {

class HEDDLE_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() HEDDLE_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() HEDDLE_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  bool try_lock() HEDDLE_THREAD_ATTRIBUTE(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

// Holds a mutex to the end of its scope.
class HEDDLE_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HEDDLE_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() HEDDLE_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace heddle
