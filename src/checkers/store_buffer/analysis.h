// The cycles of a history: one for each strongly connected part of its conflict graph that has one.
#pragma once

#include <cstdint>
#include <vector>

#include "checkers/store_buffer/cycle_search.h"

namespace heddle::store_buffer {

struct Answer {
  std::vector<Cycle> cycles;
  uint64_t undecided = 0;          // parts in which the budget ran out
  uint64_t largest_undecided = 0;  // nodes
  // Every transaction that stores drains its buffer before it ends (S2 §4.2, a transaction-fenced trace).
  bool is_fenced = false;
  // Of the cycles, those there are although every store is committed at once.
  std::size_t without_delay = 0;
};

// Of a history with commits, the cycles of that execution. Else of all its executions, in this order: those
// of the execution that commits every store at once (so that what is wrong without store buffers is said
// first, cycles of certain links among it); those of the execution that commits as late as can be; and in
// parts of the graph without any of these, whatever CycleSearch finds, with `budget` steps for all of them.
// Cost but for the last: linear in operations × threads.
Answer find_cycles(const History& history, Question question, uint64_t budget);

}  // namespace heddle::store_buffer
