// A program that is not position-independent and calls functions of a library: their addresses are those of
// entries in its table of jumps.
#include <heddle/heddle.h>

#include <cstring>

#include "Inputs/followed_library.h"
#include "interleave.h"

namespace {

long own[2];
long total = 0;
long (*const next)(long*) = next_of;  // the program's address of it

// Each iteration has its own counter: that they take turns makes no difference.
void apart() {
  heddle::parallel_for(0, 2, [](int i) {
    interleave::wait_for(i);
    const long first = next_of(&own[i]);
    interleave::end_turn();
    interleave::wait_for(i + 2);
    own[i] = first + next(&own[i]);
    interleave::end_turn();
  });
  heddle::focus(own);
}

// What 0 has seen and 1 changes is what 0 goes on with; only the library's results say so.
void together() {
  heddle::parallel_for(0, 2, [](int i) {
    if (i == 1) {
      interleave::wait_for(1);
      total += 10;
      return interleave::end_turn();
    }
    const long seen = seen_of(&total);
    interleave::end_turn();
    interleave::wait_for(2);
    total = seen + 1;
  });
  heddle::focus(total);
}

}  // namespace

int main(int, char** arguments) { std::strcmp(arguments[1], "apart") == 0 ? apart() : together(); }
