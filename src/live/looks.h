// Where a thread looks again, and so throws away what it saw before.
//
// A thread that waits for a variable to change looks at it again and again, and one whose compare-exchange
// fails tries again with what it has just seen. By the letter the block that does so is not atomic once the
// variable changes in between. But the first look has no part in what the block does: that is like a wait for
// a condition, and what comes is judged apart from what was.
#pragma once

#include <cstdint>

#include "trace/event.h"

namespace heddle {

// What one thread does that others can see, in order.
class Looks {
 public:
  void outermost_block_begins() { only_looks_ = true; }

  // The next that it does; plain accesses and blocks do not count. True: what it saw so far is thrown away,
  // because it looks at the same variable in the same place without having done anything else, or because a
  // compare-exchange fails before the block has done anything at all.
  bool looks_again(Operation operation, uint64_t address, SiteId site) {
    const bool fails = operation == Operation::kAtomicCompareFail;
    const bool is_look = fails || operation == Operation::kAtomicRead;
    const bool is_same = last_is_look_ && address == last_address_ && site == last_site_;
    const bool result = is_look && (is_same || (fails && only_looks_));
    only_looks_ &= is_look;
    last_is_look_ = is_look;
    last_address_ = address;
    last_site_ = site;
    return result;
  }

 private:
  bool only_looks_ = false;  // since its outermost block began
  bool last_is_look_ = false;
  uint64_t last_address_ = 0;
  SiteId last_site_ = kNoId;
};

}  // namespace heddle
