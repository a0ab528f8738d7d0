// What all threads know of each other: of each thread, the time up to which everything it did is ordered
// before whatever any of the others will do.
//
// An access that all know of can be in race with nothing any more: clocks only grow, and a thread that starts
// knows what its creator knows. So the state of memory need not refer to it. A thread that joins another one
// counts as knowing what that one knows, unless handlers of signals may run in it; if it is cancelled there,
// or gets its first handler of a signal only then, what its cleanup handlers or that handler do is not
// compared with what others did before the last sweep.
//
// A sweep (runtime/sweep.h) makes nothing of such references: so the numbers in use stay few, and what they
// stand for stays in the cache.
#pragma once

#include <cstdint>

#include "runtime/stretches.h"

namespace heddle::runtime {

class CommonKnowledge {
 public:
  // Under threads_lock. The threads run on, and may know more by now.
  CommonKnowledge();

  // Whether all know of all that the word stands for. False also when it takes a closer look.
  bool covers(uint32_t word) const { return word != 0 && covers_number(number_of(word)); }

 private:
  // With more threads, what they know of each other costs more to find out than it saves.
  static constexpr uint32_t kMostThreads = 64;

  bool covers_number(Number number) const;
  bool covers_stretch(Entry stretch) const {
    return stretch.slot() < kMostThreads && known_[stretch.slot()] >= stretch.time();
  }

  uint64_t known_[kMostThreads] = {};  // times by slot
};

}  // namespace heddle::runtime
