// longjmp in bodies of parallel loops; the first argument names the case.
#include <heddle/heddle.h>
#include <setjmp.h>

#include <cstdio>
#include <map>
#include <string>

#include "interleave.h"

namespace {

using interleave::end_turn;
using interleave::wait_for;

long results[2];
long shared = 0;

[[gnu::noinline]] void jump(jmp_buf place) { longjmp(place, 1); }

// The jump is one inside the body.
void within_body() {
  heddle::parallel_for(0, 2, [](int i) {
    if (HEDDLE_MAYBE) {
      jmp_buf place;
      if (setjmp(place) == 0) jump(place);
      results[i] = 1;
    }
  });
}
// Each finds what the other one has done. If it leaves the body for that, this is no body to leave out.
template <class Jump>
void look_in_body(Jump jump_out) {
  heddle::parallel_for(0, 2, [&](int i) {
    jump_out([&](auto& place) {
      if (HEDDLE_MAYBE) {
        wait_for(i);
        __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
        end_turn();
        wait_for(2);
        if (__atomic_load_n(&shared, __ATOMIC_SEQ_CST) == 2) place.jump();
      }
    });
    results[i] = 1;
  });
}
struct Plain {
  jmp_buf buffer;
  void jump() { longjmp(buffer, 1); }
};
struct WithSignals {
  sigjmp_buf buffer;
  void jump() { siglongjmp(buffer, 1); }
};
struct Nowhere {
  void jump() {}
};
void in_a_body() {
  look_in_body([](auto body) {
    Nowhere nowhere;
    body(nowhere);
  });
}
void out_of_a_body() {
  look_in_body([](auto body) {
    Plain place;
    if (setjmp(place.buffer) == 0) body(place);
  });
}
void out_of_a_body_with_signals() {
  look_in_body([](auto body) {
    WithSignals place;
    if (sigsetjmp(place.buffer, 1) == 0) body(place);
  });
}
// The same function calls setjmp in front of the body and inside it.
void out_of_inner_body() {
  heddle::parallel_for(0, 2, [](int i) {
    jmp_buf outside;
    if (setjmp(outside) == 0) {
      if (HEDDLE_MAYBE) {
        jmp_buf inside;
        if (setjmp(inside) == 0) {
          if (HEDDLE_MAYBE) {
            jump(inside);
          }
        }
        jump(outside);
      }
    }
    results[i] = 1;
  });
}
// What longjmp is given, setjmp returns: iteration 0 finds one value and then another one, of 1.
int handed_over() {
  jmp_buf place;
  const int found = setjmp(place);
  if (found == 0) longjmp(place, 1 + static_cast<int>(__atomic_load_n(&shared, __ATOMIC_SEQ_CST)));
  return found;
}
void value_of_jump() {
  heddle::parallel_for(0, 2, [](int i) {
    wait_for(i);
    if (i == 1) {
      __atomic_store_n(&shared, 2, __ATOMIC_SEQ_CST);
      return end_turn();
    }
    results[0] = handed_over();
    end_turn();
    wait_for(2);
    results[1] = handed_over();
  });
}
// From one function to another of the same iteration.
void deep() {
  heddle::parallel_for(0, 2, [](int i) {
    jmp_buf place;
    if (setjmp(place) == 0) jump(place);
    results[i] = 1;
  });
}

jmp_buf far;
void out_of_loop() {
  if (setjmp(far) == 0) heddle::parallel_for(0, 1, [](int) { jump(far); });
}
void out_of_inner_loop() {
  heddle::parallel_for(0, 1, [](int) {
    jmp_buf place;
    if (setjmp(place) == 0) heddle::parallel_for(0, 1, [&](int) { jump(place); });
  });
}
void back_into_body() {
  heddle::parallel_for(0, 1, [](int) {
    jmp_buf place;
    volatile bool has_jumped = false;
    if (HEDDLE_MAYBE) {
      setjmp(place);
    }
    if (has_jumped) return;
    has_jumped = true;
    longjmp(place, 1);
  });
}

}  // namespace

int main(int, char** arguments) {
  const std::map<std::string, void (*)()> cases = {
      {"within_body", within_body},
      {"in_a_body", in_a_body},
      {"out_of_a_body", out_of_a_body},
      {"out_of_a_body_with_signals", out_of_a_body_with_signals},
      {"out_of_inner_body", out_of_inner_body},
      {"deep", deep},
      {"value_of_jump", value_of_jump},
      {"out_of_loop", out_of_loop},
      {"out_of_inner_loop", out_of_inner_loop},
      {"back_into_body", back_into_body},
  };
  cases.at(arguments[1])();
  heddle::focus(results);
  std::puts("done");
}
