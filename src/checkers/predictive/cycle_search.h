// Three and more transactions that no serial order explains, although any two of them are fine (S1 §5.4, its
// example (16)), or two of one thread and one of another.
//
// With all pairs atomic, a set of transactions is atomic, itself and every subset of it, iff no schedule of
// them has a cycle over the edges
//   conflict: an uninitialized read or final write of one transaction comes before one of another, same
//             variable, at least one a write (so the projection UR-FW of S1 is all that matters), and
//   forced:   some step of one comes before some step of the other in every schedule (one thread's
//   transactions
//             in their order, fork, join, …).
// In a shortest cycle, transactions that are not neighbours have no edge at all; so no thread takes part with
// more than two, and those follow each other. At least one transaction of it is *cut*: the cycle leaves it at
// an earlier step than it comes back to; and one that is cut is not reducible, since those that are can be
// moved together without changing any edge. The search starts there, lengthens chains one conflict at a time,
// shorter ones first, and asks for each cycle whether a schedule has it (schedule_search.h).
//
// Most of it is settled by structure first. A transaction that meets no other (concurrency.h) and does not
// synchronize inside is in no shortest cycle: what comes before it comes before what comes after it anyway.
// And a cycle stays inside a biconnected part of the threads that meet (thread_parts.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkers/predictive/concurrency.h"
#include "checkers/predictive/replay.h"
#include "checkers/predictive/schedule_search.h"
#include "checkers/predictive/shape_index.h"
#include "checkers/predictive/thread_parts.h"
#include "checkers/predictive/transactions.h"
#include "checkers/predictive/witness.h"

namespace heddle::predictive {

class CycleSearch {
 public:
  CycleSearch(const Transactions& run, const std::vector<ShapeIndex>& indices, const Concurrency& concurrency,
              const Replay& replay);

  struct Answer {
    bool exhausted = false;
    uint64_t used = 0;  // of the budget
    std::optional<Witness> witness;
  };
  // A cycle of three or more transactions in which one of this group is cut; one that the run can come to, if
  // any of the first few is.
  Answer find(uint32_t root, uint64_t budget) const;

 private:
  class Chains;
  // An uninitialized read or final write.
  struct Use {
    ShapeId shape = 0;
    uint32_t step = 0;
    bool writes = false;
  };

  static ThreadParts find_parts(const Transactions& run, const Concurrency& concurrency,
                                std::vector<uint32_t>& participants);
  // Whether the first comes before the second, at least in part, in every schedule.
  bool is_before(const CycleMember& a, const CycleMember& b) const;
  bool are_related(uint32_t a, uint32_t b) const;
  bool conflict(uint32_t a, uint32_t b) const;

  const Transactions& run_;
  const std::vector<ShapeIndex>& indices_;  // by shape
  const Replay& replay_;
  std::vector<std::vector<Use>> uses_of_variable_;      // by variable
  std::vector<std::vector<uint32_t>> groups_of_shape_;  // by shape: those that can be in a cycle
  std::vector<uint32_t> participants_;                  // groups that can be in a cycle, ascending
  ThreadParts parts_;
};

}  // namespace heddle::predictive
