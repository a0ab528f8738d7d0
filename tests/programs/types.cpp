// Fields with every kind of owner, and methods that keep to them or do not. `unguarded` and `door` read
// without the lock while another thread writes with it; all of them read without it when all threads are
// gone.
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "schedule.h"

class Account {
 public:
  explicit Account(int limit) : limit_(limit) {}

  void deposit(int amount) {
    const std::lock_guard<std::mutex> lock(mutex_);
    add(amount);
    history_.push_back(amount);
  }
  int balance() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return balance_;
  }
  bool withdraw(int amount) {  // not atomic
    if (balance() < amount) return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    balance_ -= amount;
    return true;
  }
  int limit() const { return limit_; }
  int deposits() const { return deposits_; }  // without the lock

 private:
  void add(int amount) {  // requires mutex_
    balance_ += amount;
    if (deposits_ < 0 || deposits_ >= kMost) deposits_ = 0;  // begins again
    ++deposits_;
  }

  static constexpr int kMost = 1'000'000;
  mutable std::mutex mutex_;
  int balance_ = 0;
  int deposits_ = 0;  // used more often in the code than mutex_ is taken
  const int limit_;
  std::vector<int> history_;
};

// Its lock is taken as often in the code as what it guards is used.
class Door {
 public:
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_open_ = true;
  }
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_open_ = false;
  }
  bool is_open() const { return is_open_; }  // without the lock

 private:
  std::mutex mutex_;
  bool is_open_ = false;
};

// Never leaves its thread.
class Sum {
 public:
  void add(int value) { total_ += value; }
  int total() const { return total_; }

 private:
  int total_ = 0;
};

int use(Account& account) {
  Sum sum;
  for (int i = 0; i < 100; ++i) {
    account.deposit(1);
    sum.add(account.limit());
  }
  return sum.total();
}

int main(int argc, char** argv) {
  const bool is_unguarded = argc > 1 && std::strcmp(argv[1], "unguarded") == 0;
  const bool is_door = argc > 1 && std::strcmp(argv[1], "door") == 0;
  Account account(5);
  Door door;
  int seen = 0;
  std::thread other([&] {
    schedule::wait_for(1);
    seen = use(account);
    door.open();
    schedule::end_turn();
  });
  const bool is_long = argc > 1 && std::strcmp(argv[argc - 1], "long") == 0;
  for (int i = 0; i < (is_long ? 200'000 : 100); ++i) account.deposit(1);
  door.close();
  schedule::end_turn();
  if (is_unguarded) {
    schedule::wait_for(2);  // nothing that orders the two
    std::printf("%d deposits\n", account.deposits());
  }
  if (is_door) {
    schedule::wait_for(2);
    std::printf("%d\n", door.is_open() ? 1 : 0);
  }
  other.join();
  account.withdraw(10);
  std::printf("%d %d %d\n", account.deposits() + account.balance(), seen > 0 ? 1 : 0, door.is_open() ? 1 : 0);
}
