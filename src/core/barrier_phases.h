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

#include "trace/event.h"

namespace heddle {

// Clock needs join(const Clock&).
template <class Clock>
class BarrierPhases {
 public:
  void arrive(ThreadId thread, const Clock& clock) {
    Participant& participant = participants_[thread];
    const bool arrived_already = participant.last_phase == open_ && participant.ever_arrived;
    if (phases_.empty() || left_open_ || arrived_already) open_next();
    participant.last_phase = open_;
    participant.ever_arrived = true;
    participant.to_leave.push_back(open_);
    Phase& phase = phases_.back();
    phase.clock.join(clock);
    ++phase.inside;
  }

  // What the thread learns by leaving: the clocks of all arrivals of its phase. The thread must have arrived.
  Clock leave(ThreadId thread) {
    Participant& participant = participants_[thread];
    const uint64_t number = participant.to_leave.front();
    participant.to_leave.pop_front();
    if (number == open_) left_open_ = true;
    Phase& phase = phases_[number - first_];
    --phase.inside;
    Clock learnt = phase.clock;
    while (phases_.size() > 1 && phases_.front().inside == 0) {
      phases_.pop_front();
      ++first_;
    }
    return learnt;
  }

  // The clock of every phase that somebody may still leave.
  template <class Visit>
  void for_each_phase(Visit visit) {
    for (Phase& phase : phases_) visit(phase.clock);
  }

 private:
  struct Phase {
    Clock clock;          // of all arrivals
    uint32_t inside = 0;  // arrived and not left
  };
  struct Participant {
    std::deque<uint64_t> to_leave;  // phases arrived in and not left, oldest first
    uint64_t last_phase = 0;        // of the latest arrival
    bool ever_arrived = false;
  };

  void open_next() {
    phases_.emplace_back();
    open_ = first_ + phases_.size() - 1;
    left_open_ = false;
  }

  std::deque<Phase> phases_;  // from first_ to open_; those with nobody inside are dropped from the front
  uint64_t first_ = 0;        // number of phases_.front()
  uint64_t open_ = 0;         // number of phases_.back()
  bool left_open_ = false;    // somebody has left the open phase: no further arrival can be of it
  tsl::robin_map<ThreadId, Participant> participants_;
};

}  // namespace heddle
