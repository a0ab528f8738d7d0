// Which functions are blocks by a spec file. spec_file.test compiles and runs it.
#include <cstdio>
#include <mutex>

#include "Inputs/print_marks.h"

class Account {
 public:
  int deposit(int amount) { return balance_ += amount; }
  int dump() const { return balance_; }
  [[clang::annotate("heddle::atomic")]] int audit() const { return balance_; }

 private:
  std::mutex lock_;
  int balance_ = 0;
};

namespace math {
struct Solver {
  int solve(int number) { return number; }
  int solve_more(int number) { return number; }
};
template <class T>
T push(T value) {
  return value;
}
}  // namespace math

extern "C" int push() { return std::fflush(stdout); }
int pushed() { return 1; }

int main() {
  Account account;
  expected_object = &account;
  account.deposit(1);            // DEFAULT: begin Account::deposit atomic default of the object
                                 // SPEC: begin Account::deposit atomic spec of the object
                                 // CHECK: end Account::deposit
  account.dump();                // DEFAULT: begin Account::dump atomic default
  account.audit();               // CHECK: begin Account::audit atomic annotation of the object
                                 // CHECK: end Account::audit
  math::Solver().solve(1);       // SPEC-NEXT: begin math::Solver::solve deterministic spec of another object
                                 // SPEC-NEXT: end math::Solver::solve
  math::Solver().solve_more(1);  // nothing
  math::push(1.0);               // SPEC-NEXT: begin math::push atomic spec
                                 // SPEC-NEXT: end math::push
  push();                        // SPEC-NEXT: begin push atomic spec
                                 // SPEC-NEXT: end push
  pushed();                      // nothing
  std::puts("done");             // CHECK-NEXT: done
}
