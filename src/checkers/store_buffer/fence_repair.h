// Where fences repair what was found: the fewest places, each right after a write, such that a full fence at
// every execution of these places leaves no cycle. Found by trying: fences are put into the history and the
// question is asked again.
//
// A place is a site, or a single write of a trace that gives no sites. Only writes that the cycles found so
// far speak of come into question; each set tried that leaves a cycle brings the writes of that one in. So
// the set is the smallest of those places, and no set of other places can be smaller unless a fence not right
// after a write serves two of them.
#pragma once

#include <cstdint>
#include <vector>

#include "checkers/store_buffer/analysis.h"

namespace heddle::store_buffer {

struct Repair {
  enum class Outcome : uint8_t {
    kNothingToRepair,  // no cycle needs a write that waits
    kFound,
    kNone,    // no set of at most kMostFences places is enough
    kGaveUp,  // too many to try
  };
  Outcome outcome = Outcome::kNothingToRepair;
  std::vector<OpId> after;  // kFound: one write of each place
};

inline constexpr std::size_t kMostFences = 4;

// `answer` is that of find_cycles() for the same history, which has no commits, and question.
Repair find_repair(const History& history, Question question, uint64_t budget, const Answer& answer);

// Whether the commit waits for something that another thread does.
inline bool is_delayed(const Commit& commit) { return commit.after != commit.store; }

}  // namespace heddle::store_buffer
