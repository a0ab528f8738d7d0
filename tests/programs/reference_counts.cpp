// Tasks that copy, drop and look for shared pointers by turns. In the cases of the first kind somebody sees a
// count, or a life, that no sequential run has; in those of the second what happens in between matters to
// nobody.
#include <heddle/heddle.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "interleave.h"

namespace {

std::shared_ptr<int> shared = std::make_shared<int>(7);
std::weak_ptr<int> weak = shared;
long results[3];
std::mutex mutex;
int flag = 0;

using interleave::end_turn;
using interleave::wait_for;

// Iteration 0 acts, then 1, then 0 again.
void between(const std::function<void()>& first, const std::function<void()>& other,
             const std::function<void()>& second) {
  heddle::parallel_for(0, 2, [&](int i) {
    if (i == 1) {
      wait_for(1);
      other();
      return end_turn();
    }
    first();
    end_turn();
    wait_for(2);
    second();
  });
  heddle::focus(results);
}

// 1 sees two pointers; in a sequential run there is one, but while 0 runs.
void counted() {
  std::shared_ptr<int> mine;
  between([&] { mine = shared; }, [] { results[1] = shared.use_count(); }, [&] { mine.reset(); });
}
void counted_apart() {
  between([] { std::shared_ptr<int> mine = shared; }, [] { results[1] = shared.use_count(); }, [] {});
}
// 0 finds it alive, then dead.
void expired() {
  between([] { results[0] = weak.expired() ? 1 : 2; }, [] { shared.reset(); },
          [] { results[1] = weak.expired() ? 1 : 2; });
}
void expired_apart() {
  between([] { results[0] = weak.expired() ? 1 : 2; }, [] { shared.reset(); }, [] {});
}
void locked() {
  between([] { results[0] = weak.lock() ? 1 : 2; }, [] { shared.reset(); },
          [] { results[1] = weak.lock() ? 1 : 2; });
}
void locked_apart() {
  between([] {}, [] { shared.reset(); }, [] { results[1] = weak.lock() ? 1 : 2; });
}
void unique() {
  std::shared_ptr<int> mine;
  between([&] { mine = shared; }, [] { results[1] = shared.use_count() == 1 ? 1 : 2; },
          [&] { mine.reset(); });
}
void unique_apart() {
  between([] {}, [] { results[1] = shared.use_count() == 1 ? 1 : 2; },
          [] { std::shared_ptr<int> mine = shared; });
}
// 2 knows that 1 has dropped the last pointer that stays, and finds the object alive because 0 has one.
void held_by_another() {
  heddle::parallel_for(0, 3, [](int i) {
    if (i == 0) {
      const std::shared_ptr<int> mine = weak.lock();
      end_turn();
      return wait_for(3);
    }
    wait_for(i);
    if (i == 1) {
      const std::lock_guard<std::mutex> locked(mutex);
      shared.reset();
      flag = 1;
    } else {
      const std::lock_guard<std::mutex> locked(mutex);
      if (flag == 1) results[2] = weak.expired() ? 1 : 2;
    }
    end_turn();
  });
  heddle::focus(results);
}
void held_by_another_apart() {
  heddle::parallel_for(0, 3, [](int i) {
    wait_for(i);
    if (i == 0) {
      const std::shared_ptr<int> mine = weak.lock();
      results[0] = mine ? 1 : 2;
    } else if (i == 1) {
      const std::lock_guard<std::mutex> locked(mutex);
      shared.reset();
      flag = 1;
    } else {
      const std::lock_guard<std::mutex> locked(mutex);
      if (flag == 1) results[2] = weak.expired() ? 1 : 2;
    }
    end_turn();
  });
  heddle::focus(results);
}

// 0 has a pointer to an object that is dead when another one begins at its address, and drops one that it
// never took. 3 drops the last one, finds the object dead, and tells 0 so.
struct Large {  // than what threads have to themselves of the heap
  char bytes[2000];
};
std::shared_ptr<Large> before, of_before, after, of_after;
std::weak_ptr<Large> to_after;

void at_the_same_address(bool is_told) {
  ::mallopt(M_ARENA_MAX, 1);
  before = std::make_shared<Large>();
  const Large* const place = before.get();
  const Large* place_after = nullptr;
  // No thread begins or ends between the free and the allocation that gets its place: both change the heap.
  const int tasks = 4;
  const auto turn = [](int number, const std::function<void()>& act) {
    wait_for(tasks + number);
    {
      const std::lock_guard<std::mutex> locked(mutex);
      act();
    }
    end_turn();
  };
  heddle::parallel_for(0, tasks, [&](int i) {
    end_turn();
    if (i == 0) {
      turn(0, [] { of_before = before; });
      turn(3, [] { after.reset(); });
      if (is_told) turn(5, [] { results[0] = flag; });
    } else if (i == 1) {
      turn(1, [] {
        of_before.reset();
        before.reset();
      });
      wait_for(tasks + 3);
    } else if (i == 2) {
      turn(2, [&] {
        after = std::make_shared<Large>();
        of_after = after;
        to_after = after;
        place_after = after.get();
      });
    } else {
      turn(4, [] {
        of_after.reset();
        results[1] = to_after.expired() ? 1 : 2;
        flag = 1;
      });
    }
  });
  heddle::focus(results);
  if (place_after != place) std::exit(1);  // it proves nothing then
}
void dropped_of_another() { at_the_same_address(true); }
void dropped_of_another_apart() { at_the_same_address(false); }

// Like turns of at_the_same_address(): each in its own, under the lock, and no earlier end than the last
// one's.
void in_turns(int tasks, int turns, const std::function<void(int turn)>& act, const std::vector<int>& whose) {
  heddle::parallel_for(0, tasks, [&](int i) {
    for (int number = 0; number < turns; ++number) {
      if (whose[static_cast<unsigned>(number)] != i) continue;
      wait_for(number);
      {
        const std::lock_guard<std::mutex> locked(mutex);
        act(number);
      }
      end_turn();
    }
    wait_for(turns);
  });
  heddle::focus(results);
}
std::shared_ptr<int> stored;
// 0 keeps a pointer, which 1 drops, and 2 finds the object dead, all before 0 ends: it comes first.
void kept_and_dropped(bool is_told) {
  in_turns(3, 4,
           [&](int number) {
             if (number == 0) stored = shared;
             if (number == 1) {
               shared.reset();
               stored.reset();
             }
             if (number == 2) {
               results[2] = weak.expired() ? 1 : 2;
               flag = 1;
             }
             if (number == 3 && is_told) results[0] = flag;
           },
           {0, 1, 2, 0});
}
void dropped_for_another() { kept_and_dropped(true); }
void dropped_for_another_apart() { kept_and_dropped(false); }
// 0 keeps a pointer, by which 2 finds the object alive before 0 ends.
void kept_and_found(bool is_told) {
  in_turns(3, 4,
           [&](int number) {
             if (number == 0) stored = weak.lock();
             if (number == 1) shared.reset();
             if (number == 2) {
               results[2] = weak.expired() ? 1 : 2;
               flag = 1;
             }
             if (number == 3 && is_told) results[0] = flag;
           },
           {0, 1, 2, 0});
}
void kept_for_another() { kept_and_found(true); }
void kept_for_another_apart() { kept_and_found(false); }
// 2 gets a pointer because 0 has one for a while, and keeps the object alive when 0 has dropped it.
void handed_on() {
  std::shared_ptr<int> of_0, of_2;
  in_turns(3, 5,
           [&](int number) {
             if (number == 0) of_0 = weak.lock();
             if (number == 1) shared.reset();
             if (number == 2) {
               of_2 = weak.lock();
               results[2] = of_2 ? 1 : 2;
             }
             if (number == 3) of_0.reset();
             if (number == 4) of_2.reset();
           },
           {0, 1, 2, 0, 2});
}
void handed_on_apart() {
  std::shared_ptr<int> of_0, of_2;
  in_turns(3, 5,
           [&](int number) {
             if (number == 0) of_0 = weak.lock();
             if (number == 1) {
               of_2 = weak.lock();
               results[2] = of_2 ? 1 : 2;
             }
             if (number == 2) shared.reset();
             if (number == 3) of_0.reset();
             if (number == 4) of_2.reset();
           },
           {0, 2, 1, 0, 2});
}
// 0 happens to drop the last pointer, after 2 has found the object alive, which it is without 0's as well.
void last_of_all() {
  std::shared_ptr<int> of_0;
  in_turns(3, 4,
           [&](int number) {
             if (number == 0) {
               of_0 = weak.lock();
               flag = 1;
             }
             if (number == 1) {
               results[1] = flag;
               results[2] = weak.expired() ? 1 : 2;
             }
             if (number == 2) shared.reset();
             if (number == 3) of_0.reset();
           },
           {0, 1, 2, 0});
}

// Both have a copy for a while, which they take and drop by turns; the program looks when they are over.
template <class Take>
void by_turns(Take take) {
  heddle::parallel_for(0, 2, [&](int i) {
    wait_for(i);
    {
      const std::shared_ptr<int> mine = take();
      results[i] = mine ? 1 : 2;
      end_turn();
      wait_for(i + 2);
    }
    end_turn();
  });
  heddle::focus(results);
  if (shared.use_count() != 1) std::printf("there are %ld\n", shared.use_count());
}
void copies_by_turns() {
  by_turns([] { return shared; });
}
void locks_by_turns() {
  by_turns([] { return weak.lock(); });
}
// What a task took is not what a body in it keeps.
void locks_around_bodies() {
  static long unused[2];
  heddle::parallel_for(0, 2, [](int i) {
    wait_for(i);
    {
      const std::shared_ptr<int> mine = weak.lock();
      results[i] = mine ? 1 : 2;
      end_turn();
      wait_for(i + 2);
      if (HEDDLE_MAYBE) {
        ++unused[i];
      }
    }
    end_turn();
  });
  heddle::focus(results);
}
// Each has its own and drops it, in another order than they use something else.
void drops_by_turns() {
  std::vector<std::shared_ptr<int>> own = {shared, shared};
  shared.reset();
  long order = 0;
  heddle::parallel_for(0, 2, [&](int i) {
    wait_for(i);
    {
      const std::lock_guard<std::mutex> locked(mutex);
      order = order * 2 + i;
    }
    end_turn();
    wait_for(3 - i);
    own[static_cast<unsigned>(i)].reset();
    end_turn();
  });
  heddle::focus(order);
  if (!weak.expired()) std::printf("there is one left\n");
}
// What drops the last pointer cannot be left out when somebody then finds none.
void in_body() {
  heddle::parallel_for(0, 2, [](int i) {
    wait_for(i);
    if (i == 0) {
      if (HEDDLE_MAYBE) {
        shared.reset();
      }
    } else {
      results[1] = weak.expired() ? 1 : 2;
    }
    end_turn();
  });
  heddle::focus(results);
}
// It keeps a pointer of its own, so that there is one more: not even the end of the program looks at it
// again.
std::shared_ptr<int>* kept = nullptr;
void kept_in_body() {
  heddle::parallel_for(0, 2, [](int i) {
    wait_for(i);
    if (i == 0) {
      if (HEDDLE_MAYBE) {
        kept = new std::shared_ptr<int>(weak.lock());
      }
    } else {
      shared.reset();
      results[1] = weak.expired() ? 1 : 2;
    }
    end_turn();
  });
  heddle::focus(results);
}
// So does a task in it.
void kept_in_task_of_body() {
  heddle::parallel_for(0, 2, [](int i) {
    wait_for(i);
    if (i == 0) {
      if (HEDDLE_MAYBE) {
        heddle::parallel_for(0, 1, [](int) { kept = new std::shared_ptr<int>(weak.lock()); });
      }
    } else {
      shared.reset();
      results[1] = weak.expired() ? 1 : 2;
    }
    end_turn();
  });
  heddle::focus(results);
}

}  // namespace

int main(int, char** arguments) {
  const std::map<std::string, void (*)()> cases = {
      {"counted", counted},
      {"counted_apart", counted_apart},
      {"expired", expired},
      {"expired_apart", expired_apart},
      {"locked", locked},
      {"locked_apart", locked_apart},
      {"unique", unique},
      {"unique_apart", unique_apart},
      {"held_by_another", held_by_another},
      {"held_by_another_apart", held_by_another_apart},
      {"dropped_of_another", dropped_of_another},
      {"dropped_of_another_apart", dropped_of_another_apart},
      {"dropped_for_another", dropped_for_another},
      {"dropped_for_another_apart", dropped_for_another_apart},
      {"kept_for_another", kept_for_another},
      {"kept_for_another_apart", kept_for_another_apart},
      {"handed_on", handed_on},
      {"handed_on_apart", handed_on_apart},
      {"last_of_all", last_of_all},
      {"copies_by_turns", copies_by_turns},
      {"locks_by_turns", locks_by_turns},
      {"locks_around_bodies", locks_around_bodies},
      {"drops_by_turns", drops_by_turns},
      {"in_body", in_body},
      {"kept_in_body", kept_in_body},
      {"kept_in_task_of_body", kept_in_task_of_body},
  };
  cases.at(arguments[1])();
}
