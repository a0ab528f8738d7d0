// Iterations that use a library which was not built with --heddle-dataflow. Each case lets the other
// iteration's turn come between a look and an act that belong together; its twin `CASE_together` does both in
// one turn.
#include "Inputs/without_data_flow.h"

#include <heddle/heddle.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "interleave.h"

long of_program = 0;

namespace {

std::mutex mutex;
long total = 0;
long results[2];

bool is_together = false;
// Iteration 0 looks, then 1 does both, then 0 acts.
template <class Look, class Act>
void look_and_act(int i, Look look, Act act) {
  if (is_together) {
    const std::lock_guard<std::mutex> locked(mutex);
    return act(look());
  }
  if (i == 1) interleave::wait_for(1);
  long seen = 0;
  {
    const std::lock_guard<std::mutex> locked(mutex);
    seen = look();
  }
  if (i == 0) {
    interleave::end_turn();
    interleave::wait_for(2);
  }
  {
    const std::lock_guard<std::mutex> locked(mutex);
    act(seen);
  }
  if (i == 1) interleave::end_turn();
}

// Memory of the program's: a global variable, a local one, and what an object leads to.
void in_global() {
  heddle::parallel_for(0, 2, [](int i) {
    look_and_act(i, [] { return peek(&total); }, [](long seen) { poke(&total, seen + 1); });
  });
  heddle::focus(total);
}
void in_local() {
  long cells[4] = {};
  heddle::parallel_for(0, 2, [&](int i) {
    look_and_act(i, [&] { return cells[2]; }, [&](long seen) { poke(cells + 2, seen + 1); });
  });
  heddle::focus(cells);
}
void behind_object() {
  std::vector<long> boxes = {0, 0};
  Shelf shelf = {&boxes};
  heddle::parallel_for(0, 2, [&](int i) {
    look_and_act(i, [&] { return top_of(shelf); }, [&](long seen) { boxes[0] = seen + 1; });
  });
  heddle::focus(boxes);
}
// What the library keeps to itself.
void in_state() {
  heddle::parallel_for(0, 2, [](int i) {
    look_and_act(i, [] { return next_ticket(); }, [i](long seen) { results[i] = seen * 10 + next_ticket(); });
  });
  heddle::focus(results);
}
// A function of the program's that the library calls.
void in_callback() {
  heddle::parallel_for(0, 2, [](int i) {
    look_and_act(
        i, [] { return total; },
        [](long seen) { total = applied([](long value) { return value + 1; }, seen); });
  });
  heddle::focus(total);
}
// It says that it does nothing to memory, or nothing but read: no order is lost then.
void by_its_word() {
  heddle::parallel_for(0, 2, [](int i) {
    look_and_act(
        i, [] { return read_only(&total) + twice(1); },
        [i](long seen) { results[i] = twice(seen) + read_only(&total); });
  });
  heddle::focus(results);
}

// What it knows without being told: variables by name, and what it was given before.
void by_name() {
  heddle::parallel_for(0, 2, [](int i) {
    look_and_act(i, [] { return of_program; }, [](long seen) { poke_of_program(seen + 1); });
  });
  heddle::focus(of_program);
}
void of_its_own() {
  heddle::parallel_for(0, 2, [](int i) {
    look_and_act(i, [] { return of_library; }, [](long seen) { poke_of_library(seen + 1); });
  });
  heddle::focus(of_library);
}
void kept() {
  keep(&total);
  heddle::parallel_for(
      0, 2, [](int i) { look_and_act(i, [] { return total; }, [](long seen) { poke_kept(seen + 1); }); });
  heddle::focus(total);
}
void kept_for_thread() {
  heddle::parallel_for(0, 2, [](int i) {
    results[i] = keep_for_thread(&total);
    look_and_act(i, [] { return total; }, [](long seen) { poke_kept_for_thread(seen + 1); });
  });
  heddle::focus(total);
}

// Iteration 1 has its turn while 0 is in a call that does not return to where it was made.
void pause() {
  if (is_together) return;
  interleave::end_turn();
  interleave::wait_for(2);
  const std::lock_guard<std::mutex> locked(mutex);  // so that a recording, too, has what comes now after 1
}
template <class Call>
void during(Call call) {
  heddle::parallel_for(0, 2, [&](int i) {
    std::unique_lock<std::mutex> locked(mutex, std::defer_lock);
    if (is_together || i == 1) {
      if (i == 1 && !is_together) interleave::wait_for(1);
      locked.lock();
    }
    if (i == 0) return call();
    total += 10;
    if (!is_together) interleave::end_turn();
  });
  heddle::focus(total);
}
[[gnu::noinline]] long in_place(void (*pausing)(), long* cell, long value) {
  [[clang::musttail]] return poke_after(pausing, cell, value);
}
void in_place_of_caller() {
  during([] { in_place(pause, &total, 1); });
}
// What it sees first is branched on while it runs, and so is, after the call, what it saw in all.
void seen_again() {
  during([] {
    if (peek_again(pause, [](long seen) { return seen > 5; }, &total) > 5) results[0] = 1;
  });
}
void thrown() {
  during([] {
    try {
      poke_after_and_throw(pause, &total, 1);
    } catch (long) {
    }
  });
}

}  // namespace

int main(int, char** arguments) {
  std::string name = arguments[1];
  const std::string twin = "_together";
  if (name.ends_with(twin)) {
    is_together = true;
    name.resize(name.size() - twin.size());
  }
  const std::map<std::string, void (*)()> cases = {{"in_global", in_global},
                                                   {"in_local", in_local},
                                                   {"behind_object", behind_object},
                                                   {"in_state", in_state},
                                                   {"in_callback", in_callback},
                                                   {"by_its_word", by_its_word},
                                                   {"by_name", by_name},
                                                   {"of_its_own", of_its_own},
                                                   {"kept", kept},
                                                   {"thrown", thrown},
                                                   {"seen_again", seen_again},
                                                   {"kept_for_thread", kept_for_thread},
                                                   {"in_place_of_caller", in_place_of_caller}};
  cases.at(name)();
}
