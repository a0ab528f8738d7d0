// Programs with a bug that then end in every way there is: what was found before is reported.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <mutex>

#include "twins.h"

using twins::let_second_pass;
using twins::two;

namespace {

class Account {
 public:
  void deposit(int amount) {
    const std::lock_guard<std::mutex> locked(mutex_);
    balance_ += amount;  // here: deposit
  }
  void withdraw_in_two_parts(int amount) {
    const int before = balance();
    let_second_pass();
    const std::lock_guard<std::mutex> locked(mutex_);
    balance_ = before - amount;  // here: act
  }
  int balance() {
    const std::lock_guard<std::mutex> locked(mutex_);
    return balance_;  // here: check
  }

 private:
  std::mutex mutex_;
  int balance_ = 100;
};

Account account;

void lose_money() {
  two([] { account.withdraw_in_two_parts(30); }, [] { account.deposit(50); });
}

// In another thread, so that the program has two when it ends.
template <class End>
void end_in_thread(End end) {
  lose_money();
  std::thread([=] { end(); }).join();
}

std::mutex a;
std::mutex b;

void deadlock() {
  const auto lock_both = [](std::mutex& first, std::mutex& second) {
    const std::lock_guard<std::mutex> one(first);
    schedule::end_turn();
    schedule::wait_for(4);
    const std::lock_guard<std::mutex> two(second);
  };
  lose_money();
  std::thread other([=] { lock_both(a, b); });
  lock_both(b, a);
  other.join();
}

// The child has a bug of its own kind: it is only the parent that is looked at here.
void fork_and_wait() {
  lose_money();
  std::thread([] {
    const pid_t child = fork();
    if (child == 0) _exit(account.balance() == 70 ? 7 : 8);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) std::puts("the child's exit code is not its own");
  }).join();
}

void exit_in_handler(int) { _exit(3); }

const twins::Cases kCases = {
    {"returns", lose_money},
    {"exits", [] { end_in_thread([] { std::exit(3); }); }},
    {"exits_at_once", [] { end_in_thread([] { _exit(3); }); }},
    {"is_killed", [] { end_in_thread([] { kill(getpid(), SIGKILL); }); }},
    {"is_terminated", [] { end_in_thread([] { kill(getpid(), SIGTERM); }); }},
    {"crashes", [] { end_in_thread([] { *reinterpret_cast<volatile int*>(8) = 1; }); }},
    {"aborts", [] { end_in_thread([] { std::abort(); }); }},
    {"throws", [] { end_in_thread([] { throw 1; }); }},
    {"exits_in_handler",
     [] {
       end_in_thread([] {
         std::signal(SIGUSR1, exit_in_handler);
         kill(getpid(), SIGUSR1);
         for (;;) pause();
       });
     }},
    {"forks", fork_and_wait},
    {"deadlocks", deadlock},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
