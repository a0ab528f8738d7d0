// All of S1 §5 over a run: which atomic blocks some schedule of this run's operations interrupts.
//
// First what reduction proves is set aside; then every block that is left is compared with every shape that
// shares a variable with it (pair_check.h), on all cores; then those that no pair refutes are searched for
// longer cycles (cycle_search.h). The result does not depend on how many cores there are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "checkers/predictive/cycle_search.h"
#include "checkers/predictive/transactions.h"
#include "core/lockset.h"

namespace heddle::predictive {

struct SearchResult {
  std::vector<Witness> witnesses;  // one for each block that is refuted, with its edges
  uint64_t blocks = 0;             // groups of atomic blocks
  uint64_t proved = 0;             // of them: by reduction
  uint64_t pairs = 0;              // compared
  uint64_t too_large = 0;          // blocks with a rival that they were not compared with: both are too long
  uint64_t exhausted = 0;          // blocks whose search the budget ended
};

// Called now and then, from the thread that searches, with what part is done, from 0 to 1.
using OnSearchProgress = std::function<void(double part)>;

// `run` is without idle accesses.
SearchResult search_violations(const Transactions& run, const LocksetTable& locksets, uint64_t budget,
                               const OnSearchProgress& on_progress);

}  // namespace heddle::predictive
