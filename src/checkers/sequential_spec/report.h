// What ndseq has found, in words.
#pragma once

#include <string>
#include <vector>

#include "checkers/sequential_spec/relevance.h"
#include "checkers/sequential_spec/task_order.h"
#include "core/finding.h"
#include "core/sequential_run.h"
#include "trace/names.h"

namespace heddle::sequential_spec {

struct ReportContext {
  const Names& names;
  const History& history;
  const Relevance& relevance;
  const Rule& rule;
  std::string_view checker;
};

// The source lines of a cycle's operations, sorted: what makes it distinct. Those of operations without a
// site are their texts.
std::vector<std::string> lines_of(const std::vector<Before>& cycle, const Names& names,
                                  const History& history);

Finding report(const std::vector<Before>& cycle, const ReportContext& context);

// Puts in the order of the tasks, and the if (true*) that are left out.
void tell_order(const TaskOrder& order, const ReportContext& context, SequentialRun& run);

// Why the order of the two is not certain, and what to do.
std::string uncertainty(NodeId earlier, NodeId later, const ReportContext& context);

// Why the order of tasks is not all that matters, and what to do.
std::string interference(NodeId beside, NodeId inside, const ReportContext& context);

// "i=1", or of a task that meets others at a barrier "i=1 (part 2)".
std::string task_name(const History& history, const Names& names, TaskId task);

}  // namespace heddle::sequential_spec
