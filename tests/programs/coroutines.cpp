// Coroutines that are begun by one thread and go on in another: what they do belongs to the thread that
// resumes them, and their calls to the call stack there.
#include <heddle/heddle.h>

#include <coroutine>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "twins.h"

using twins::let_second_begin;
using twins::let_second_pass;
using twins::two;

namespace {

// Stops where it says co_await std::suspend_always, until somebody resumes it.
class Work {
 public:
  struct promise_type {
    Work get_return_object() { return Work(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
    std::exception_ptr failure;
  };

  explicit Work(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Work(Work&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Work() {
    if (handle_) handle_.destroy();
  }
  void resume() {
    handle_.resume();
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

int counter = 0;
std::mutex mutex;

void count() { ++counter; }  // here: count

Work count_twice() {
  count();
  co_await std::suspend_always();
  count();
}

Work count_twice_locked() {
  {
    const std::lock_guard<std::mutex> locked(mutex);
    count();
  }
  co_await std::suspend_always();
  const std::lock_guard<std::mutex> locked(mutex);
  count();
}

Work fail() {
  count();
  co_await std::suspend_always();
  throw std::runtime_error("on purpose");
}

// Taken by whoever resumes the coroutine, in the middle of a block.
class Account {
 public:
  Work withdraw_in_two_parts() {
    int before;
    {
      const std::lock_guard<std::mutex> locked(mutex_);
      before = balance_;  // here: check
    }
    co_await std::suspend_always();
    const std::lock_guard<std::mutex> locked(mutex_);
    balance_ = before - 30;  // here: act
  }
  void deposit() {
    const std::lock_guard<std::mutex> locked(mutex_);
    balance_ += 50;  // here: deposit
  }

 private:
  std::mutex mutex_;
  int balance_ = 100;
};
Account account;

const twins::Cases kCases = {
    {"race",
     [] {
       Work one = count_twice();
       Work other = count_twice();
       two(
           [&] {
             one.resume();
             let_second_pass();
           },
           [&] { other.resume(); });
     }},
    {"in_a_block",
     [] {
       two(
           [] {
             HEDDLE_ATOMIC("withdraw");
             Work work = account.withdraw_in_two_parts();
             work.resume();
             let_second_pass();
             work.resume();
           },
           [] { account.deposit(); });
     }},
    {"locked",
     [] {
       Work one = count_twice_locked();
       Work other = count_twice_locked();
       two(
           [&] {
             one.resume();
             let_second_begin();
             one.resume();
           },
           [&] {
             other.resume();
             other.resume();
           });
     }},
    {"handed_over",
     [] {
       Work work = count_twice();
       std::thread([&] { work.resume(); }).join();
       std::thread([&] { work.resume(); }).join();
     }},
    {"fails",
     [] {
       Work work = fail();
       std::thread([&] { work.resume(); }).join();
       std::thread([&] {
         try {
           work.resume();
         } catch (const std::runtime_error&) {
           count();
         }
       }).join();
     }},
};

}  // namespace

int main(int count, char** arguments) { return twins::run(kCases, count, arguments); }
