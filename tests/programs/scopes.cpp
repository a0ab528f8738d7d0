// A check-then-act that a scope names, and one that a spec file names, for compilers without the plug-in.
#include <heddle/heddle.h>

#include <mutex>

#include "twins.h"

namespace {

std::mutex mutex;
int balance = 10;

int look() {
  const std::lock_guard<std::mutex> locked(mutex);
  return balance;
}

void withdraw() {
  HEDDLE_ATOMIC("withdraw");
  const int before = look();
  twins::let_second_pass();
  const std::lock_guard<std::mutex> locked(mutex);
  balance = before - 1;
}

[[gnu::noinline]] void withdraw_by_spec() {
  const int before = look();
  twins::let_second_pass();
  const std::lock_guard<std::mutex> locked(mutex);
  balance = before - 1;
}

void deposit() {
  HEDDLE_BEGIN_ATOMIC("deposit");
  const std::lock_guard<std::mutex> locked(mutex);
  balance += 5;
  HEDDLE_END;
}

}  // namespace

int main(int count, char**) { twins::two(count > 1 ? withdraw_by_spec : withdraw, deposit); }
