// Which phase of a barrier an arrival and a departure belong to, and what all arrivals of a phase bring
// along.
//
// The text format does not number phases. An arrival belongs to the phase that is open, unless its thread has
// already arrived in it or somebody has already left it; then it opens the next one. The n-th leave of a
// thread belongs to the phase of its n-th arrive. For a fixed set of participants this counts each thread's
// arrivals; for threads that come late or drop out it still gives the phase they really took part in.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "trace/event.h"

namespace heddle {

// Clock needs join(const Clock&).
template <class Clock>
class BarrierPhases {
 public:
  void arrive(ThreadId thread, const Clock& clock) {
    Participant& participant = participants_[thread];
    if (open_ == kNone || left_open_ || participant.latest == opened_) open_next();
    participant.latest = opened_;
    participant.to_leave.push_back(open_);
    Phase& phase = phases_[open_];
    phase.clock.join(clock);
    ++phase.inside;
  }

  // What the thread learns by leaving: the clocks of all arrivals of its phase. The thread must have arrived.
  Clock leave(ThreadId thread) {
    Participant& participant = participants_[thread];
    const uint32_t place = participant.to_leave.front();
    participant.to_leave.pop_front();
    if (place == open_) left_open_ = true;
    Phase& phase = phases_[place];
    if (--phase.inside > 0) return phase.clock;
    if (place == open_) open_ = kNone;
    free_.push_back(place);
    return std::exchange(phase.clock, Clock());
  }

  // The clock of every phase that somebody may still leave.
  template <class Visit>
  void for_each_phase(Visit visit) {
    for (Phase& phase : phases_)
      if (phase.inside > 0) visit(phase.clock);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Phase {
    Clock clock;          // of all arrivals
    uint32_t inside = 0;  // arrived and not left; 0: the place is free
  };
  struct Participant {
    std::deque<uint32_t> to_leave;  // places in phases_ of those arrived in and not left, oldest first
    uint64_t latest = 0;            // number of the phase arrived in last, from 1; 0: none
  };

  void open_next() {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(phases_.size()));
      phases_.emplace_back();
    }
    open_ = free_.back();
    free_.pop_back();
    ++opened_;
    left_open_ = false;
  }

  // In no order: a phase that a thread never leaves stays, those before and after it come and go.
  std::vector<Phase> phases_;
  std::vector<uint32_t> free_;  // places in phases_ nobody is in
  uint32_t open_ = kNone;       // place of the phase that arrivals belong to; kNone: the next opens one
  uint64_t opened_ = 0;         // how many phases have been opened: the number of the latest, from 1
  bool left_open_ = false;      // somebody has left the open phase: no further arrival can be of it
  tsl::robin_map<ThreadId, Participant> participants_;
};

}  // namespace heddle
