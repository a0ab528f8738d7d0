// Transfers between accounts that have a mutex each. A transfer holds both accounts' mutexes, always taking
// that of the lower number first, so that no two transfers wait for each other. Some operations only look: a
// statement reads two balances that belong together.
//
// Size: operations, all threads together; the work is proportional. Small: 400000.
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 20'000'000, .small = 400'000};

constexpr std::size_t kAccounts = 50;
constexpr uint64_t kStartBalance = 1000;

// Whoever calls these functions holds the account's mutex.
class Account {
 public:
  std::mutex& mutex() { return mutex_; }

  uint64_t balance() const { return balance_; }
  uint64_t movements() const { return movements_; }

  void deposit(uint64_t amount) {
    balance_ += amount;
    ++movements_;
  }

  // False, and nothing happens, when there is not enough.
  bool withdraw(uint64_t amount) {
    if (balance_ < amount) return false;
    balance_ -= amount;
    ++movements_;
    return true;
  }

 private:
  std::mutex mutex_;  // guards what follows
  uint64_t balance_ = kStartBalance;
  uint64_t movements_ = 0;  // deposits and withdrawals so far
};

class Bank {
 public:
  Bank() : accounts_(kAccounts) {}

  // Between two different accounts. False, and nothing happens, when `from` has not enough.
  bool transfer(std::size_t from, std::size_t to, uint64_t amount) {
    const std::lock_guard first(accounts_[std::min(from, to)].mutex());
    const std::lock_guard second(accounts_[std::max(from, to)].mutex());
    if (!accounts_[from].withdraw(amount)) return false;
    accounts_[to].deposit(amount);
    return true;
  }

  // What two different accounts have together.
  uint64_t joint_balance(std::size_t one, std::size_t other) {
    const std::lock_guard first(accounts_[std::min(one, other)].mutex());
    const std::lock_guard second(accounts_[std::max(one, other)].mutex());
    return accounts_[one].balance() + accounts_[other].balance();
  }

  // Exact only while nobody transfers.
  uint64_t total_balance() {
    uint64_t sum = 0;
    for (Account& account : accounts_) {
      const std::lock_guard lock(account.mutex());
      sum += account.balance();
    }
    return sum;
  }

  uint64_t total_movements() {
    uint64_t sum = 0;
    for (Account& account : accounts_) {
      const std::lock_guard lock(account.mutex());
      sum += account.movements();
    }
    return sum;
  }

 private:
  std::vector<Account> accounts_;
};

// What one thread did.
struct Tally {
  uint64_t transfers = 0;
  uint64_t refused = 0;
  uint64_t impossible = 0;  // statements of more money than there is
};

Tally work(Bank& bank, std::size_t operations, std::size_t thread) {
  kernel::Random random(thread);
  Tally tally;
  for (std::size_t i = 0; i < operations; ++i) {
    const std::size_t from = random.below(kAccounts);
    const std::size_t to = (from + 1 + random.below(kAccounts - 1)) % kAccounts;
    if (random.below(5) == 0) {
      if (bank.joint_balance(from, to) > kAccounts * kStartBalance) ++tally.impossible;
    } else if (bank.transfer(from, to, 1 + random.below(200))) {
      ++tally.transfers;
    } else {
      ++tally.refused;
    }
  }
  return tally;
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("bank", argc, argv, kSizes);
  Bank bank;
  std::vector<Tally> tallies(program.threads());
  kernel::run_team(program.threads(), [&](std::size_t thread) {
    const kernel::Range mine = kernel::share_of(program.size(), program.threads(), thread);
    tallies[thread] = work(bank, mine.end - mine.begin, thread);
  });

  Tally sum;
  for (const Tally& tally : tallies) {
    sum.transfers += tally.transfers;
    sum.refused += tally.refused;
    sum.impossible += tally.impossible;
  }
  program.check_equal("the money in the bank", bank.total_balance(), kAccounts * kStartBalance);
  program.check_equal("the number of movements", bank.total_movements(), 2 * sum.transfers);
  program.check_equal("the number of impossible statements", sum.impossible, 0);
  std::printf("bank: %zu operations, %llu transfers, %llu refused\n", program.size(),
              static_cast<unsigned long long>(sum.transfers), static_cast<unsigned long long>(sum.refused));
  return 0;
}
