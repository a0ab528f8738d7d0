// Which functions are blocks, and that each begins and ends once on every way out. blocks.test compiles and
// runs it; the functions of print_marks.h print, and the comments say what.
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>

#include "Inputs/print_marks.h"

namespace bank {

class Account {
 public:
  Account() { deposit(1); }
  Account(const Account& other) : balance_(other.balance_) {}
  Account& operator=(const Account& other) {
    balance_ = other.balance_;
    return *this;
  }
  Account& operator=(int balance) {
    balance_ = balance;
    return *this;
  }
  virtual ~Account() {}
  int deposit(int amount) { return change(amount); }
  int balance() const {
    const std::lock_guard<std::mutex> hold(lock_);
    return balance_;
  }
  int withdraw(int amount) {
    const std::lock_guard<std::mutex> hold(lock_);
    if (amount > balance_) throw std::runtime_error("too poor");
    if (amount == 0) return 0;
    return change(-amount);
  }
  int try_withdraw(int amount) {
    try {
      return withdraw(amount);
    } catch (const std::runtime_error&) {
      return -1;
    }
  }
  std::string name() const { return "a name that is too long to be kept in the object itself"; }
  int in_lambda() {
    const auto body = [this] { return ++balance_; };
    return body();
  }
  template <class Number>
  Number as() const {
    return static_cast<Number>(balance_);
  }
  virtual int risk() const { return balance_; }
  static int limit() { return 7; }

 protected:
  int change(int amount) { return balance_ += amount; }
  int balance_ = 0;

 private:
  mutable std::mutex lock_;
};

class Savings : public Account {
 public:
  int risk() const override { return 0; }
};

}  // namespace bank

namespace {
class Hidden {
 public:
  int read() { return ready_.test_and_set() ? 1 : 0; }

 private:
  std::atomic_flag ready_ = ATOMIC_FLAG_INIT;
};
}  // namespace

template <class T>
class Queue {
 public:
  void push(T value) { last_ = value; }

 private:
  T last_ = T();
  std::shared_mutex lock_;
};

struct Plain {
  int read() { return value; }
  int value = 1;
};

struct WithCLock {
  int read() { return 2; }
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
};

struct WithSpinLock {
  int read() { return 2; }
  pthread_spinlock_t lock;
};

struct WithLocks {
  int read() { return 2; }
  std::recursive_mutex locks[4];
};

struct WithPointer {
  int read() { return 2; }
  std::mutex* lock = nullptr;
};

struct WithAtomic {
  bool operator==(int number) const { return value == number; }
  bool operator<(int number) const { return value < number; }
  std::atomic<int> value{3};
};

[[clang::annotate("heddle::atomic")]] static int annotated(int number) { return number + 1; }
[[clang::annotate("heddle::deterministic")]] int annotated_too(int number);
int annotated_too(int number) {
  if (number < 0) throw number;
  return number;
}
[[clang::annotate("something else")]] int annotated_otherwise() { return 1; }

int main() {
  std::puts("constructor");  // CHECK: constructor
  bank::Account account;     // CHECK-NEXT: begin bank::Account::deposit atomic default of another object
                             // CHECK-NEXT: end bank::Account::deposit
  expected_object = &account;
  account.balance();      // CHECK-NEXT: begin bank::Account::balance atomic default of the object
                          // CHECK-NEXT: end bank::Account::balance
  account.withdraw(0);    // CHECK-NEXT: begin bank::Account::withdraw atomic default of the object
                          // CHECK-NEXT: end bank::Account::withdraw
  try {                   // CHECK-NEXT: begin bank::Account::withdraw atomic default of the object
    account.withdraw(9);  // CHECK-NEXT: end bank::Account::withdraw
  } catch (const std::exception& error) {
    std::puts(error.what());  // CHECK-NEXT: too poor
  }
  account.try_withdraw(9);  // CHECK-NEXT: begin bank::Account::try_withdraw atomic default of the object
                            // CHECK-NEXT: begin bank::Account::withdraw atomic default of the object
                            // CHECK-NEXT: end bank::Account::withdraw
                            // CHECK-NEXT: end bank::Account::try_withdraw
  std::puts(account.name().c_str() +
            40);        // CHECK-NEXT: begin bank::Account::name atomic default of the object
                        // CHECK-NEXT: end bank::Account::name
                        // CHECK-NEXT: object itself
  account.in_lambda();  // CHECK-NEXT: begin bank::Account::in_lambda atomic default of the object
                        // CHECK-NEXT: end bank::Account::in_lambda
  account.as<long>();   // CHECK-NEXT: begin bank::Account::as atomic default of the object
                        // CHECK-NEXT: end bank::Account::as
  account.risk();       // CHECK-NEXT: begin bank::Account::risk atomic default of the object
                        // CHECK-NEXT: end bank::Account::risk
  account = 5;          // CHECK-NEXT: begin bank::Account::operator= atomic default of the object
                        // CHECK-NEXT: end bank::Account::operator=
  bank::Account copy = account;
  copy = account;
  bank::Account::limit();
  std::puts("others");    // CHECK-NEXT: others
  bank::Savings savings;  // CHECK-NEXT: begin bank::Account::deposit atomic default of another object
                          // CHECK-NEXT: end bank::Account::deposit
  static_cast<bank::Account&>(savings).risk();
  Hidden().read();          // CHECK-NEXT: begin Hidden::read atomic default of another object
                            // CHECK-NEXT: end Hidden::read
  Queue<double>().push(2);  // CHECK-NEXT: begin Queue::push atomic default of another object
                            // CHECK-NEXT: end Queue::push
  Plain().read();
  WithPointer().read();
  WithCLock().read();     // CHECK-NEXT: begin WithCLock::read atomic default of another object
                          // CHECK-NEXT: end WithCLock::read
  WithSpinLock().read();  // CHECK-NEXT: begin WithSpinLock::read atomic default of another object
                          // CHECK-NEXT: end WithSpinLock::read
  WithLocks().read();     // CHECK-NEXT: begin WithLocks::read atomic default of another object
                          // CHECK-NEXT: end WithLocks::read
  if (WithAtomic() == 4)
    return 1;  // CHECK-NEXT: begin WithAtomic::operator== atomic default of another object
               // CHECK-NEXT: end WithAtomic::operator==
  if (WithAtomic() < 3)
    return 1;    // CHECK-NEXT: begin WithAtomic::operator< atomic default of another object
                 // CHECK-NEXT: end WithAtomic::operator<
  annotated(1);  // CHECK-NEXT: begin annotated atomic annotation
                 // CHECK-NEXT: end annotated
  try {
    annotated_too(-1);  // CHECK-NEXT: begin annotated_too deterministic annotation
                        // CHECK-NEXT: end annotated_too
  } catch (int) {
  }
  annotated_otherwise();
  std::puts("end");  // CHECK-NEXT: {{^}}end{{$}}
}
