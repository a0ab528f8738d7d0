// An account that a race detector has nothing to say about: every access to balance_ holds the mutex. Yet a
// deposit is lost when it falls between the two halves of a withdrawal.
//
//   heddle try examples/bank.cpp
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

class Account {
 public:
  void deposit(int amount) {
    std::lock_guard<std::mutex> lock(mu_);
    balance_ += amount;
  }

  bool withdraw(int amount) {
    int before = balance();  // takes the lock and gives it back
    if (before < amount) return false;
    std::lock_guard<std::mutex> lock(mu_);
    balance_ = before - amount;  // whatever was deposited in between is gone
    return true;
  }

  int balance() {
    std::lock_guard<std::mutex> lock(mu_);
    return balance_;
  }

 private:
  std::mutex mu_;
  int balance_ = 0;
};

// One thread saves, the other spends, until money is missing.
int main() {
  Account account;
  std::atomic<int> deposited = 0;
  std::atomic<bool> done = false;
  std::thread saver([&] {
    while (!done) {
      account.deposit(1);
      ++deposited;
    }
  });
  int withdrawn = 0;
  int missing = 0;
  for (int i = 0; i < 100'000'000 && missing <= 0; ++i) {
    if (account.withdraw(1)) ++withdrawn;
    const int least = deposited - withdrawn;  // more may be on its way
    missing = least - account.balance();
  }
  done = true;
  saver.join();
  std::printf(missing > 0 ? "money is missing\n" : "all is well\n");
}
