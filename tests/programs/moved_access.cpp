// An access that the optimizer takes out of its loop, or makes of several, stands nowhere in the source. It
// is said to be where what it loads is used, or where what it stores comes from.
#include <thread>

#include "schedule.h"

struct Counter {
  long number = 0;
  void add(int times) {
    for (int i = 0; i < times; ++i) number += i;
  }
};

int main(int count, char**) {
  Counter counter;
  std::thread a([&] { schedule::at(0, [&] { counter.add(count + 1); }); });
  std::thread b([&] { schedule::at(1, [&] { counter.add(count + 2); }); });
  a.join();
  b.join();
  return counter.number == 0;
}
