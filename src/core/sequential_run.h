// What ndseq has to say about a trace as a whole: its row in a table like S3's Table 1 and, where there is
// one, the sequential run that gives the same outcome.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/finding.h"

namespace heddle {

struct SequentialRun {
  struct Place {
    std::string task;    // its name
    uint32_t depth = 0;  // 1: in no other task
  };

  std::string input;               // the trace (set by the pipeline's caller)
  uint64_t tasks = 0;              // that were begun
  uint64_t focus = 0;              // locations
  uint64_t events = 0;             // reads and writes of memory, and branches
  uint64_t irrelevant_events = 0;  // of these
  uint64_t maybes = 0;             // if (true*) that were entered
  uint64_t irrelevant_maybes = 0;  // of these
  uint64_t conflict_warnings = 0;  // cycles by plain conflict serializability, distinct by source lines
  uint64_t warnings = 0;           // cycles of relevant operations, likewise
  bool counted_all = true;         // both times; else there may be more
  bool is_found = false;           // there is such a sequential run
  bool is_certain = true;          // the trace's order of what matters is the one in which it happened
  // The tasks in its order, each followed by the tasks inside it.
  std::vector<Place> order;
  uint64_t order_left_out = 0;  // tasks past those kept
  std::vector<Step> skipped;    // the outermost if (true*) whose bodies it leaves out
  uint64_t skipped_left_out = 0;
};

}  // namespace heddle
