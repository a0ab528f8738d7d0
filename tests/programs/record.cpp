// Programs to be recorded; the first argument says which.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "heddle/heddle.h"
#include "schedule.h"

using schedule::at;

namespace {

struct Account {
  int balance = 100;
  int limit = 0;
} account;
std::mutex mutex, other;

[[gnu::noinline]] int balance() {
  const std::lock_guard<std::mutex> locked(mutex);
  return account.balance;
}
[[gnu::noinline]] void set_balance(int balance) {
  const std::lock_guard<std::mutex> locked(mutex);
  account.balance = balance;
}

void two(const std::function<void()>& first, const std::function<void()>& second) {
  std::thread a(first);
  std::thread b(second);
  a.join();
  b.join();
}

void atomicity() {
  two(
      [] {
        HEDDLE_ATOMIC("withdraw");
        int before = 0;
        at(0, [&] { before = balance(); });
        at(2, [&] { set_balance(before - 10); });
      },
      [] { at(1, [] { set_balance(50); }); });
}
void race() {
  two([] { at(0, [] { account.balance = 1; }); }, [] { at(1, [] { account.balance = 2; }); });
}
void deadlock() {
  const auto lock = [](std::mutex& first, std::mutex& second) {
    const std::lock_guard<std::mutex> outer(first);
    const std::lock_guard<std::mutex> inner(second);
  };
  two([&] { at(0, [&] { lock(mutex, other); }); }, [&] { at(1, [&] { lock(other, mutex); }); });
}

// One thread does something again and again, nothing in between.
void again() {
  two(
      [] {
        for (int i = 0; i < 1000; ++i) *const_cast<volatile int*>(&account.balance) = i;
      },
      [] {});
}

// 80 bytes at once, and every third of 30 words.
int64_t from[30], to[30];
void series() {
  for (int64_t& word : from) *const_cast<volatile int64_t*>(&word) = 1;
  two(
      [] {
        std::memcpy(to, from, 80);
        int64_t sum = 0;
        for (int i = 0; i < 30; i += 3) sum += from[i];
        *const_cast<volatile int64_t*>(to + 29) = sum;
      },
      [] {});
}

void end_badly(const std::function<void()>& end) {
  std::thread a([] { at(0, [] { account.balance = 1; }); });
  a.join();
  std::thread b([&] {
    at(1, [] { account.limit = 2; });
    end();
  });
  b.join();
}

[[gnu::noinline]] int overflow(volatile char* above) {
  volatile char frame[4096];
  frame[0] = *above;
  return overflow(frame) + frame[0];
}

void processes() {
  race();
  const pid_t child = ::fork();
  if (child == 0) {
    schedule::turn = 0;
    race();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

const std::map<std::string, std::function<void()>> kCases = {
    {"atomicity", atomicity},
    {"race", race},
    {"deadlock", deadlock},
    {"again", again},
    {"series", series},
    {"killed", [] { end_badly([] { ::kill(::getpid(), SIGKILL); }); }},
    {"aborted", [] { end_badly([] { std::abort(); }); }},
    {"overflown",
     [] {
       end_badly([] {
         char start = 1;
         overflow(&start);
       });
     }},
    {"processes", processes},
    {"serial", [] {}},
    {"seven",
     [] {
       race();
       std::exit(7);
     }},
};

}  // namespace

int main(int, char** arguments) { kCases.at(arguments[1])(); }
