// Accesses that need no check where no other thread can be, beside others to the same memory that do. The
// argument says which of the wrong programs runs; none: the right ones.
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "schedule.h"

// Used by one thread alone, and then by two without a lock.
struct Counter {
  int value = 0;
  void add() { ++value; }
  void add_alone() { value += 10; }
};

// It looks at its value when it goes, which may be too early. Who has the address keeps it from being proven.
struct Counted {
  int value = 1;
  int* address() { return taken = &value; }
  ~Counted() { left = value; }
  static inline int* taken = nullptr;
  static inline int left = 0;
};

void count(bool is_wrong) {
  Counter counter;
  counter.add_alone();  // before there are others
  std::thread other([&] { schedule::at(1, [&] { counter.add(); }); });
  if (is_wrong) counter.add();
  schedule::end_turn();
  other.join();
  counter.add_alone();  // after the last of them
}

void destroy(bool is_wrong) {
  auto* counted = new Counted;
  std::thread other([&] {
    *counted->address() = 2;
    schedule::end_turn();
  });
  if (!is_wrong) other.join();
  schedule::wait_for(1);
  delete counted;
  if (is_wrong) other.join();
}

void grow(bool is_wrong) {
  std::vector<int> numbers(1);
  numbers.push_back(1);  // nobody else's yet
  numbers.shrink_to_fit();
  int* const first = &numbers[0];
  std::thread other([=] {
    ++*first;
    schedule::end_turn();
  });
  if (!is_wrong) other.join();
  schedule::wait_for(1);
  numbers.push_back(2);  // copies the first to elsewhere
  if (is_wrong) other.join();
}

std::vector<int> shelf;

void move(bool is_wrong) {
  std::vector<int> made(8);
  int* const first = made.data();
  *first = 1;  // nobody else's yet
  shelf = std::move(made);
  std::thread other([] {
    ++shelf[0];
    schedule::end_turn();
  });
  if (!is_wrong) other.join();
  schedule::wait_for(1);
  *first = 2;
  if (is_wrong) other.join();
}

struct Sum {
  int value = 1;
};
volatile int steps = 10;

// A loop that the optimizer lets load once, in front of it, and store once, behind it.
[[gnu::noinline]] void add_up(Sum& sum) {
  for (int i = 0, last = steps; i < last; ++i) sum.value += sum.value % (i + 2);
}

void promote(bool is_wrong) {
  auto* const sum = new Sum;
  add_up(*sum);  // nobody else's yet, here and in the loop
  for (int i = 0, last = steps; i < last; ++i) sum->value += sum->value % (i + 3);
  std::thread other([=] {
    ++sum->value;
    schedule::end_turn();
  });
  if (!is_wrong) other.join();
  schedule::wait_for(1);
  for (int i = 0, last = steps; i < last; ++i) sum->value += sum->value % (i + 3);
  if (is_wrong) other.join();
  delete sum;
}

int main(int argc, char** argv) {
  const bool is_wrong = argc > 1;
  const auto is_asked_for = [&](const char* name) { return !is_wrong || std::strcmp(argv[1], name) == 0; };
  if (is_asked_for("count")) count(is_wrong);
  schedule::turn = 0;
  if (is_asked_for("destroy")) destroy(is_wrong);
  schedule::turn = 0;
  if (is_asked_for("grow")) grow(is_wrong);
  schedule::turn = 0;
  if (is_asked_for("move")) move(is_wrong);
  schedule::turn = 0;
  if (is_asked_for("promote")) promote(is_wrong);
}
