// Destructors that others have not left yet, and memory that is used both by atomic operations and plainly.
// None of the fields x… may be proven; `right` holds what differs by a word from the wrong ones. The argument
// says which of the wrong programs runs; none: the right ones.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "schedule.h"

// 1 Told to stop without the lock, and joined afterwards.
class Told {
 public:
  Told() : worker_([this] { work(); }) {}
  ~Told() {
    schedule::wait_for(1);
    x1_ = true;
    schedule::end_turn();
    changed_.notify_all();
    worker_.join();
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    schedule::end_turn();
    while (!x1_) changed_.wait_for(lock, std::chrono::milliseconds(1));
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool x1_ = false;
  std::thread worker_;
};

// 2 The same, where nobody writes that there is a join: a member's destructor does it.
class Joining {
 public:
  ~Joining() {
    if (thread.joinable()) thread.join();
  }
  std::thread thread;
};
class ToldQuietly {
 public:
  ToldQuietly() {
    worker_.thread = std::thread([this] {
      schedule::wait_for(1);
      const std::lock_guard<std::mutex> lock(mutex_);
      x2_ += 1;
    });
  }
  ~ToldQuietly() {
    x2_ += 10;
    schedule::end_turn();
  }

 private:
  std::mutex mutex_;
  int x2_ = 0;
  Joining worker_;
};

// 3 By the library's thread that joins itself.
class ToldByLibrary {
 public:
  ToldByLibrary() {
    workers_.emplace_back([this] {
      schedule::wait_for(1);
      const std::lock_guard<std::mutex> lock(mutex_);
      x3_ += 1;
    });
  }
  ~ToldByLibrary() {
    x3_ += 10;
    schedule::end_turn();
  }

 private:
  std::mutex mutex_;
  int x3_ = 0;
  std::vector<std::jthread> workers_;
};

// With the lock; and once all are joined, what is left is the destructor's alone.
class ToldRight {
 public:
  ToldRight() : worker_([this] { work(); }) {}
  ~ToldRight() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      right1_ = true;
    }
    changed_.notify_all();
    worker_.join();
    ++right2_;
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!right1_) changed_.wait(lock);
    ++right2_;
    right3_.push_back(1);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool right1_ = false;
  int right2_ = 0;
  std::vector<int> right3_;
  std::thread worker_;
};

// 4 Read plainly while others count atomically: no lock in sight, so nothing is missing it seems.
struct Meter {
  int x4 = 0;
  int right4 = 0;  // by atomic operations only, once it is shared
  void turn() {
    __atomic_fetch_add(&x4, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&right4, 1, __ATOMIC_RELAXED);
  }
  int look() const { return x4; }
};

// 5 Read plainly with a lock that whoever counts does not take.
struct Guarded {
  std::mutex mutex;
  int x5 = 0;
  void set() {
    const std::lock_guard<std::mutex> lock(mutex);
    x5 = 10;
  }
  void turn() { __atomic_fetch_add(&x5, 1, __ATOMIC_RELAXED); }
};

// 6 Published by a relaxed store and seen by a relaxed load: the value is in a race unless fences stand
// between.
struct Mail {
  std::atomic<int> flag = 0;
  int x6 = 0;
  void send(bool fences) {
    x6 = 5;
    if (fences) std::atomic_thread_fence(std::memory_order_release);
    flag.store(1, std::memory_order_relaxed);
  }
  int receive(bool fences) const {
    while (flag.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
    if (fences) std::atomic_thread_fence(std::memory_order_acquire);
    return x6;
  }
};

// A pointer on the way to a lock that somebody changes by an atomic operation.
struct Lockable {
  std::mutex mutex;
};
struct Redirected {
  Lockable* lock = nullptr;
  int x7 = 0;
  void add() {
    const std::lock_guard<std::mutex> guard(lock->mutex);
    ++x7;
  }
  void redirect(Lockable* to) { __atomic_store_n(&lock, to, __ATOMIC_RELEASE); }
};

volatile int seen = 0;

template <class First, class Second>
void both(First first, Second second) {
  std::thread a(first);
  std::thread b(second);
  a.join();
  b.join();
}

void redirect() {
  auto* one = new Lockable;
  auto* other = new Lockable;
  auto* redirected = new Redirected;
  redirected->lock = one;
  both([=] { redirected->add(); }, [=] { redirected->redirect(other); });
}

int main(int argc, char** argv) {
  const auto is = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  if (is("told")) Told told;
  if (is("quietly")) ToldQuietly told;
  if (is("library")) ToldByLibrary told;
  if (is("meter")) {
    auto* meter = new Meter;
    both([=] { meter->turn(); }, [=] { seen = meter->look(); });
  }
  if (is("guarded")) {
    auto* guarded = new Guarded;
    both([=] { guarded->turn(); }, [=] { guarded->set(); });
  }
  auto* mail = new Mail;
  const bool fences = !is("mail");
  if (!is("redirect")) both([=] { mail->send(fences); }, [=] { seen = mail->receive(fences); });
  if (is("redirect")) redirect();
  {
    ToldRight right;
  }
  auto* meter = new Meter;
  if (argc == 1) both([=] { meter->turn(); }, [=] { meter->turn(); });
  return 0;
}
