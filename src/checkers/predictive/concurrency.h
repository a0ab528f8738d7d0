// Which transactions can meet: access the same variable, at least one writing, while no forced order keeps
// them apart.
//
// The transactions of one thread that access a variable are a chain in the forced order; what is wholly
// before a transaction of another thread is a beginning of the chain and what is wholly after it an end, so
// that the rest is found by two binary searches.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "checkers/predictive/shape_index.h"
#include "checkers/predictive/transactions.h"
#include "core/lockset.h"

namespace heddle::predictive {

// Groups of one thread, in the order of the thread.
using Chain = std::vector<uint32_t>;

// The part of a chain of another thread that is neither wholly before the group nor wholly after it.
std::pair<Chain::const_iterator, Chain::const_iterator> overlapping(const Transactions& run, uint32_t group,
                                                                    const Chain& chain);

class Concurrency {
 public:
  Concurrency(const Transactions& run, const std::vector<ShapeIndex>& indices, const LocksetTable& locksets);

  // Whether another thread's conflicting access can come right before or after this step of the group. May
  // say yes where a long search would find that it cannot.
  bool has_rival(uint32_t group, uint32_t step) const;

  // For each group whether it can meet another at all; calls meets(thread, other thread) for threads that
  // have groups that do, at least once.
  template <class Meets>
  std::vector<bool> find_partners(Meets meets) const {
    std::vector<bool> has_partner(run_.groups.size(), false);
    for (uint32_t group = 0; group < run_.groups.size(); ++group) {
      const ThreadId thread = run_.groups[group].thread;
      for (const VariableUse& use : indices_[run_.groups[group].shape].variables) {
        for (const OfThread& of : chains_[use.variable]) {
          const bool conflicts = of.thread != thread && (use.writes() || of.writes);
          if (!conflicts || !meets_any(group, use, of)) continue;
          has_partner[group] = true;
          meets(thread, of.thread);
        }
      }
    }
    return has_partner;
  }

 private:
  struct OfThread {
    ThreadId thread = kNoId;
    Chain chain;
    std::vector<Time> ends;  // the thread's time when each of the chain ended
    bool writes = false;     // one of them does
  };

  // What overlapping() finds, and no more than one past kMostLooks of it.
  std::span<const uint32_t> beside(uint32_t group, const OfThread& of) const;
  bool meets_any(uint32_t group, const VariableUse& use, const OfThread& of) const;
  const VariableUse& use_of(uint32_t group, VariableId variable) const;

  const Transactions& run_;
  const std::vector<ShapeIndex>& indices_;  // by shape
  const LocksetTable& locksets_;
  std::vector<std::vector<OfThread>> chains_;  // by variable: who accesses it
};

}  // namespace heddle::predictive
