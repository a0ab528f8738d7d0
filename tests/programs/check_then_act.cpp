// Checks whose result is no longer true when it is acted upon. Every access holds the lock or is atomic, so
// that no race detector has anything to say.
#include <heddle/heddle.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "twins.h"

using twins::let_second_begin;
using twins::let_second_pass;
using twins::two;

namespace {

class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}

  void deposit(int amount) {
    const std::lock_guard<std::mutex> locked(mutex_);
    balance_ += amount;  // here: deposit
  }

  bool withdraw_in_two_parts(int amount) {
    int before;
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      before = balance_;  // here: check
    }
    if (before < amount) return false;
    let_second_pass();
    const std::lock_guard<std::mutex> locked(mutex_);
    balance_ = before - amount;  // here: act
    return true;
  }

  bool withdraw(int amount) {
    const std::lock_guard<std::mutex> locked(mutex_);
    const int before = balance_;
    if (before < amount) return false;
    let_second_begin();
    balance_ = before - amount;
    return true;
  }

 private:
  std::mutex mutex_;
  int balance_;
};

// google/sanitizers#1645: each operation is atomic, the function is not.
class Ticket {
 public:
  bool take_in_two_steps() {
    if (is_taken_.load()) return false;  // here: look
    let_second_pass();
    is_taken_.store(true);  // here: take
    return true;
  }

  bool take() {
    let_second_begin();
    return !is_taken_.exchange(true);  // here: exchange
  }

 private:
  std::atomic<bool> is_taken_{false};
};

// Nothing is used once the limit is 0, and the limit is not lowered once something is used: unless the two
// numbers are looked at and changed one by one.
std::atomic<int> limit{10};
std::atomic<int> used{0};

void use_in_two_steps() {
  HEDDLE_ATOMIC("use");
  if (limit.load() < 5) return;  // here: read_limit
  let_second_pass();
  used.fetch_add(5);  // here: add_used
}

// The same, after a look at the limit that is no part of it.
[[gnu::noinline]] int limit_now() { return limit.load(); }
void look_and_use_in_two_steps() {
  if (limit_now() < 5) return;
  HEDDLE_ATOMIC("use");
  if (limit_now() < 5) return;
  let_second_pass();
  used.fetch_add(5);
}

void lower_in_two_steps() {
  HEDDLE_ATOMIC("lower");
  if (used.load() > 0) return;  // here: read_used
  limit.store(0);               // here: write_limit
}

// Both numbers in one word.
std::atomic<uint64_t> limit_and_used{uint64_t{10} << 32};

void use() {
  HEDDLE_ATOMIC("use");
  let_second_begin();
  limit_and_used.fetch_add(5);
}
void lower() {
  HEDDLE_ATOMIC("lower");
  limit_and_used.fetch_and(0xFFFF'FFFF);
}

Account account(100);
Ticket ticket;

const twins::Cases kCases = {
    // So much goes well before that plain accesses are no longer told.
    {"locked_apart_late",
     [] {
       std::thread([] {
         for (int i = 0; i < 100'000; ++i) account.deposit(0);
       }).join();
       two([] { account.withdraw_in_two_parts(30); }, [] { account.deposit(50); });
     }},
    {"locked_apart", [] { two([] { account.withdraw_in_two_parts(30); }, [] { account.deposit(50); }); }},
    {"locked_together", [] { two([] { account.withdraw(30); }, [] { account.deposit(50); }); }},
    {"flag", [] { two([] { ticket.take_in_two_steps(); }, [] { ticket.take(); }); }},
    {"exchanged_flag", [] { two([] { ticket.take(); }, [] { ticket.take(); }); }},
    {"two_atomics", [] { two(use_in_two_steps, lower_in_two_steps); }},
    {"looked_before", [] { two(look_and_use_in_two_steps, lower_in_two_steps); }},
    {"one_atomic", [] { two(use, lower); }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
