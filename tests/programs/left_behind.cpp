// What threads leave behind, hand over and wait for: correct programs that have looked wrong, and their
// broken twins.
#include <heddle/heddle.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <thread>

#include "twins.h"

namespace {

int number = 0;

// The thread ends and still has the lock. The next one gets it all the same.
void robust_lock() {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  static pthread_mutex_t lock;
  pthread_mutex_init(&lock, &kind);
  std::thread([] { pthread_mutex_lock(&lock); }).join();
  if (pthread_mutex_lock(&lock) == EOWNERDEAD) pthread_mutex_consistent(&lock);
  pthread_mutex_unlock(&lock);
}

void lock_made_anew() {
  alignas(std::mutex) static char place[sizeof(std::mutex)];
  auto* const first = new (place) std::mutex;
  std::thread([&] { first->lock(); }).join();
  auto* const second = new (place) std::mutex;
  second->lock();
  second->unlock();
}

// What is found before such a lock is found all the same.
void race_before_robust_lock() {
  std::thread other([] { number = 1; });  // here: other
  number = 2;                             // here: here
  other.join();
  robust_lock();
}

void wake_through_pipe(bool is_written_before) {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::thread sender([&] {
    char byte = 0;
    if (is_written_before) number = 1;
    if (write(ends[1], &byte, 1) != 1) return;
    if (!is_written_before) number = 1;  // here: sent
  });
  char byte;
  if (read(ends[0], &byte, 1) == 1) ++number;  // here: received
  sender.join();
}

// One thread tells another, in some way that the system has, that the number is written.
void hand_over(const std::function<void()>& send, const std::function<void()>& receive) {
  std::thread sender([&] {
    number = 1;
    send();
  });
  receive();
  ++number;
  sender.join();
}
void hand_over_by_event() {
  const int event = eventfd(0, 0);
  eventfd_t value = 0;
  hand_over([&] { eventfd_write(event, 1); }, [&] { eventfd_read(event, &value); });
}
void hand_over_by_epoll() {
  int ends[2];
  if (pipe(ends) != 0) return;
  const int waiting = epoll_create1(0);
  epoll_event event = {.events = EPOLLIN, .data = {.fd = ends[0]}};
  epoll_ctl(waiting, EPOLL_CTL_ADD, ends[0], &event);
  hand_over([&] { [[maybe_unused]] const ssize_t sent = write(ends[1], "", 1); },
            [&] { epoll_wait(waiting, &event, 1, -1); });
}
void hand_over_by_message() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  char byte = 0;
  iovec part = {&byte, 1};
  char other_byte = 0;
  iovec other_part = {&other_byte, 1};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  msghdr other = message;
  other.msg_iov = &other_part;
  hand_over([&] { sendmsg(ends[0], &message, 0); }, [&] { recvmsg(ends[1], &other, 0); });
}
void hand_over_by_closing() {
  int ends[2];
  if (pipe(ends) != 0) return;
  char byte;
  hand_over([&] { close(ends[1]); },
            [&] { [[maybe_unused]] const ssize_t nothing = read(ends[0], &byte, 1); });
}
void hand_over_by_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const pthread_t self = pthread_self();
  int signal = 0;
  hand_over([&] { pthread_kill(self, SIGUSR1); }, [&] { sigwait(&signals, &signal); });
}

// There is room for what checking needs.
void smallest_stack() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  pthread_t thread;
  const auto body = [](void*) -> void* {
    char text[4096];
    std::memset(text, number, sizeof text);
    number = text[17];
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, body, nullptr) != 0) std::abort();
  pthread_join(thread, nullptr);
}

// Neighbours, one of which lies where its type does not allow it.
void misaligned() {
  alignas(8) static char bytes[32];
  std::thread other([] { std::memset(bytes + 7, 1, 10); });
  int* volatile odd = reinterpret_cast<int*>(bytes + 17);
  *odd = 3;
  short* volatile odder = reinterpret_cast<short*>(bytes + 23);
  *odder = 3;
  other.join();
}

// A function that joins a thread cannot be atomic, and nobody has said that this one is.
class Worker {
 public:
  void start() { thread_ = std::thread(&Worker::run, this); }
  void post() {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      ++jobs_;
    }
    changed_.notify_one();
  }
  void stop() {
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void stop_as_a_whole() {
    HEDDLE_ATOMIC("stop");
    stop();
  }

 private:
  void run() {
    std::unique_lock<std::mutex> locked(mutex_);
    for (;;) {
      changed_.wait(locked, [this] { return stops_ || jobs_ > 0; });
      if (jobs_ == 0) return;
      --jobs_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stops_ = false;
  int jobs_ = 0;
  std::thread thread_;
};

void work(void (Worker::*stop)()) {
  Worker worker;
  worker.start();
  worker.post();
  (worker.*stop)();
}

// Where the earlier access was is forgotten, what it was is not.
template <class Access>
void long_ago(Access access) {
  std::thread a([&] {
    schedule::at(0, [&] {
      access();
      static volatile int others[8192];
      std::mutex own;
      for (volatile int& other : others) {
        const std::lock_guard lock(own);
        other = 1;
      }
    });
  });
  std::thread b([] { schedule::at(1, [] { number = 2; }); });
  a.join(), b.join();
}

// Objects of one class after the other in the same place of the stack: the second is not taken for the first.
class Apples {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++apples_;
  }
  void add_unlocked() { ++apples_; }

 private:
  std::mutex mutex_;
  int apples_ = 0;
};
class Pears {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++pears_;
  }
  void add_unlocked() { ++pears_; }

 private:
  std::mutex mutex_;
  int pears_ = 0;
};
template <class Fruits>
[[gnu::noinline]] void fill(void (Fruits::*add)()) {
  Fruits fruits;
  std::thread other([&] { fruits.add(); });
  (fruits.*add)();
  other.join();
}

const twins::Cases kCases = {
    {"robust_lock", robust_lock},
    {"lock_made_anew", lock_made_anew},
    {"race_before_robust_lock", race_before_robust_lock},
    {"pipe", [] { wake_through_pipe(true); }},
    {"after_the_pipe", [] { wake_through_pipe(false); }},
    {"event", hand_over_by_event},
    {"epoll", hand_over_by_epoll},
    {"message", hand_over_by_message},
    {"closed", hand_over_by_closing},
    {"signal", hand_over_by_signal},
    {"misaligned", misaligned},
    {"smallest_stack", smallest_stack},
    {"written_long_ago", [] { long_ago([] { number = 1; }); }},
    {"read_long_ago", [] { long_ago([] { [[maybe_unused]] const volatile int seen = number; }); }},
    {"one_after_the_other",
     [] {
       fill(&Apples::add);
       fill(&Pears::add_unlocked);
     }},
    {"joins", [] { work(&Worker::stop); }},
    {"joins_as_a_whole", [] { work(&Worker::stop_as_a_whole); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
