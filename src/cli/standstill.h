// A program whose threads all wait for another thread: nobody can wake any of them.
#pragma once

#include <sys/types.h>

#include <string>

namespace heddle {

class Standstill {
 public:
  // To be asked now and then. True when every thread waits without a time limit, and did so when last asked
  // and has not run in between.
  bool has_come(pid_t pid);

  // The line of the program's own from which its main thread waits, as far as its stack tells; empty: not
  // known.
  static std::string place(pid_t pid);

 private:
  std::string before_;  // how often each thread had run; empty: somebody did not wait
};

}  // namespace heddle
