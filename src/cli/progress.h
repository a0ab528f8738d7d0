// A line on the terminal that says how far a long reading has come.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "trace/source.h"

namespace heddle {

// Silent for the first second, and always when stderr is no terminal. The line is gone when the object is.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Called after each batch.
  void update(uint64_t events, const TraceSource& source);
  // Called now and then by a search, with what part of it is done.
  void update(double part);

 private:
  using Clock = std::chrono::steady_clock;

  bool is_time_to_draw();

  std::string what_;    // "checking run.heddle"
  bool terminal_;       // stderr is one
  bool drawn_ = false;  // the line is on the screen
  Clock::time_point started_;
  Clock::time_point next_;  // when to draw again
};

}  // namespace heddle
