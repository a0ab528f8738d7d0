// What the programs with a bug and its correct twin share: cases named on the command line, and two threads
// of which the second acts while the first is in the middle of what it does.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "schedule.h"

namespace twins {

using Cases = std::map<std::string, std::function<void()>>;

inline int run(const Cases& cases, int count, char** arguments) {
  const auto found = count < 2 ? cases.end() : cases.find(arguments[1]);
  if (found == cases.end()) {
    std::fputs("name a case\n", stderr);
    return 2;
  }
  found->second();
  return 0;
}

// The second begins when the first has ended.
template <class First, class Second>
void one_by_one(First first, Second second) {
  std::thread a([&] { schedule::at(0, first); });
  std::thread b([&] { schedule::at(1, second); });
  a.join();
  b.join();
}

// The second begins when the first calls one of the two functions below, once.
template <class First, class Second>
void two(First first, Second second) {
  std::thread a(first);
  std::thread b([&] { schedule::at(1, second); });
  a.join();
  b.join();
}

// The second does all of it now. Nothing that it needs may be locked.
inline void let_second_pass() {
  schedule::end_turn();
  schedule::wait_for(2);
}

// The second may begin now, and waits where it must. Both may call it: the second's call means nothing.
inline void let_second_begin() {
  if (!schedule::has_come(1)) schedule::end_turn();
}

}  // namespace twins
