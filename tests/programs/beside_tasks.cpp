// What leaves an iteration by an exception, and what is done beside the iterations, by a thread that is in
// none.
#include <heddle/heddle.h>

#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "interleave.h"

namespace {

std::mutex mutex;
int total = 0;
int others = 0;
int seen[2];

int sum_so_far() {
  const std::lock_guard<std::mutex> locked(mutex);
  return total;
}
void add(int number) {
  const std::lock_guard<std::mutex> locked(mutex);
  total += number;
}

// The sequential version ends with the first exception, so nobody else throws.
void both_throw(int i) {
  interleave::end_turn();
  interleave::wait_for(2);
  throw i;
}
void one_throws(int i) {
  add(1);
  interleave::end_turn();
  interleave::wait_for(2);
  if (i == 1) throw i;
}

// The other iteration adds something between a look in what may be left out and one behind it.
template <class Look>
void look_twice(int i, Look look) {
  if (i == 0) {
    look();
    interleave::end_turn();
    interleave::wait_for(2);
    seen[0] = sum_so_far();
  } else {
    interleave::wait_for(1);
    add(1);
    interleave::end_turn();
  }
}

// Whether there is an exception depends on the first look, and so does what it leads to.
void body_throws(int i) {
  look_twice(i, [] {
    try {
      if (HEDDLE_MAYBE) {
        const std::string owner(20, 'x');
        if (sum_so_far() == 0) throw 1;  // line: thrown
      }
    } catch (int) {
      seen[1] = 1;
    }
  });
}
bool is_nothing_there() {
  if (sum_so_far() == 0) throw 1;
  return false;
}
void condition_throws(int i) {
  look_twice(i, [] {
    try {
      if (HEDDLE_MAYBE && is_nothing_there()) seen[1] = 2;
    } catch (int) {
      seen[1] = 1;
    }
  });
}
void caught_inside(int i) {
  look_twice(i, [] {
    if (HEDDLE_MAYBE) {
      try {
        if (sum_so_far() == 0) throw 1;
      } catch (int) {
        __atomic_fetch_add(&others, 1, __ATOMIC_RELAXED);
      }
    }
  });
}

// A thread that is there before the loop adds something in between, as what an iteration may leave out.
void add_beside() {
  interleave::wait_for(1);
  if (HEDDLE_MAYBE) {  // line: beside
    add(1);
  }
  interleave::end_turn();
}
void count_beside() {
  interleave::wait_for(1);
  __atomic_fetch_add(&others, 1, __ATOMIC_RELAXED);
  interleave::end_turn();
}
void meanwhile(int i) {
  if (i == 0) {
    add(1);
    interleave::end_turn();
    interleave::wait_for(2);
    seen[0] = sum_so_far();
    interleave::end_turn();
  } else {
    interleave::wait_for(3);
    add(2);
  }
}
// The same by a thread that an iteration starts.
void started(int i) {
  std::thread thread;
  if (i == 0) thread = std::thread(add_beside);
  meanwhile(i);
  if (thread.joinable()) thread.join();
}

// What std::async and its futures call inside the C++ library does all to its arguments, which are the
// iteration's own.
void by_async(int i) {
  interleave::wait_for(i);
  std::future<int> sum = std::async(std::launch::async, sum_so_far);
  interleave::end_turn();
  interleave::wait_for(2);
  seen[i] = sum.get();
  interleave::end_turn();
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view which = arguments[1];
  const std::map<std::string_view, void (*)(int)> cases = {{"both_throw", both_throw},
                                                           {"one_throws", one_throws},
                                                           {"body_throws", body_throws},
                                                           {"condition_throws", condition_throws},
                                                           {"caught_inside", caught_inside},
                                                           {"handed_over", meanwhile},
                                                           {"counted", meanwhile},
                                                           {"started", started},
                                                           {"by_async", by_async}};
  std::thread beside;
  if (which == "handed_over") beside = std::thread(add_beside);
  if (which == "counted") beside = std::thread(count_beside);
  try {
    heddle::parallel_for(0, 2, cases.at(which));
  } catch (int) {
    total += 100;
  }
  if (beside.joinable()) beside.join();
  heddle::focus(total);
  heddle::focus(seen);
}
