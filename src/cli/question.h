// A program that does not go on can be asked what its threads do: with SIGUSR2, to it or to us.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/finding.h"
#include "live/live_trace.h"
#include "runtime/channel.h"

namespace heddle {

// From now on SIGUSR2 to this process is a question.
void listen_for_questions();

// What was asked about one program since this was made.
class Questions {
 public:
  explicit Questions(const runtime::Channel& channel);
  // True once for each time that somebody asked, or for several together.
  bool any();

 private:
  uint32_t asked() const;

  const runtime::Channel& channel_;
  uint32_t answered_;
};

// What each thread waits for, and what it holds; whole lines.
std::string threads_text(const std::string& program, LiveTrace& trace);
// The same in one sentence if all of them wait, so that nobody could go on; else empty.
std::string standstill_text(LiveTrace& trace);
// A line for each.
std::string findings_text(std::span<const Findings> found);

}  // namespace heddle
