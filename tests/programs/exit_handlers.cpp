// What runs at the end of the program comes after whoever asked for it.
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "twins.h"

namespace {

volatile int number = 0;

void read_number() {
  if (number > 2) std::abort();
}

// A thread does it that nobody waits for, so that main ends without knowing of it otherwise.
void in_detached_thread(void (*body)()) {
  std::thread([body] {
    schedule::at(0, body);
    for (;;) ::pause();
  }).detach();
  schedule::wait_for(1);
}

struct Log {
  std::vector<int> lines = std::vector<int>(10, 1);
  ~Log() {
    if (lines.size() != 10) std::abort();
  }
};

void static_variable() {
  in_detached_thread([] { static Log log; });
}
void function() {
  in_detached_thread([] {
    number = 1;
    std::atexit(read_number);
  });
}
void changed_after_it_was_given() {
  in_detached_thread([] {
    std::atexit(read_number);
    number = 1;
  });
}

}  // namespace

int main(int count, char** arguments) {
  return twins::run({{"static_variable", static_variable},
                     {"function", function},
                     {"changed_after_it_was_given", changed_after_it_was_given}},
                    count, arguments);
}
