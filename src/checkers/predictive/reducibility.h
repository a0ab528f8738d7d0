// What reduction clears before schedules are searched: the chain of S1 §5, group by group.
//
// More precise than the checker `reduction`, which judges by locks alone (Thm 4.3): here an access is also
// race-free when the forced order keeps it apart from every rival.
#pragma once

#include <optional>
#include <vector>

#include "checkers/predictive/concurrency.h"
#include "checkers/predictive/movers.h"
#include "checkers/predictive/shape_index.h"
#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

class Reducibility {
 public:
  // All are looked at only when something is asked.
  Reducibility(const Transactions& run, const std::vector<ShapeIndex>& indices, const LocksetTable& locksets);

  bool is_reducible(uint32_t group);

  // Whether what counts in cycles of three and more is: uninitialized reads, final writes, and critical
  // sections with one of them inside. Without the rest there are only more schedules, and none of them cuts
  // it.
  bool is_reducible_in_cycles(uint32_t group);

  // Adds the variables at whose accesses another transaction may cut the group. If it is reducible as far as
  // locks go, only who makes an access of it a non-mover can: beside anybody else it is reducible. Keeps them
  // ascending, each once.
  void add_cuts(uint32_t group, std::vector<VariableId>& variables);

  const Concurrency& concurrency() {
    if (!concurrency_) concurrency_.emplace(run_, indices_, locksets_);
    return *concurrency_;
  }

 private:
  const Group& group(uint32_t number) const { return run_.groups[number]; }
  const Shape& shape(uint32_t number) const { return run_.shapes[group(number).shape]; }
  const Movers& movers() {
    if (!movers_) movers_.emplace(run_, locksets_, RaceFreedom::kPairwise);
    return *movers_;
  }
  Mover mover_of(uint32_t number, std::size_t step);

  const Transactions& run_;
  const std::vector<ShapeIndex>& indices_;  // by shape
  const LocksetTable& locksets_;
  std::optional<Movers> movers_;
  std::optional<Concurrency> concurrency_;
};

}  // namespace heddle::predictive
