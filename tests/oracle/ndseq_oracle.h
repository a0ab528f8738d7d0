// S3's checking algorithm straight from its definitions (§5, Fig. 6, Def. 2 and 3), event by event and pair
// by pair. For traces of a few dozen events. What S3 leaves open is decided in docs/design/ndseq.md.
#pragma once

#include <string>
#include <vector>

namespace heddle::oracle {

struct NdseqAnswer {
  // By event of the trace: whether it is relevant. Of an atomic update its read and its write apart; the
  // other is false everywhere else. Events that are no events of S3 are irrelevant.
  std::vector<bool> relevant;  // reads, assignments, branches, if (true*)
  std::vector<int> task;  // by event: a number for the task it is in, or the part of one; -1: no event of S3
  std::vector<bool> relevant_write;  // writes
  bool has_cycle = false;            // of tasks, by relevant operations
  bool has_conflict_cycle = false;   // by all operations
  // Tasks (parts of them), by name as reports call them, which must come before others: pairs of siblings.
  std::vector<std::pair<std::string, std::string>> before;
};

NdseqAnswer ndseq(const std::string& trace);

}  // namespace heddle::oracle
