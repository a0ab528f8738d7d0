// The two ways Heddle stops early. Everything else is a bug in Heddle and ends with exit code 125.
#pragma once

#include <stdexcept>
#include <string>

namespace heddle {

// The user's input or command line is at fault: one line that says where and what, exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The machine is at fault (disk full, file vanished): one line and the next step to take, exit code 125.
class SystemError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heddle
