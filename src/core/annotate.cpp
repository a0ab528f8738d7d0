#include "core/annotate.h"

#include <algorithm>

namespace heddle {

bool needs_blocks(std::span<const Finding> findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return !std::all_of(finding.steps.begin(), finding.steps.end(),
                        [](const Step& step) { return step.block_is_known; });
  });
}

void annotate_blocks(std::span<Finding> findings, TraceSource& source) {
  std::vector<Step*> steps;
  for (Finding& finding : findings)
    for (Step& step : finding.steps)
      if (!step.block_is_known) steps.push_back(&step);
  std::sort(steps.begin(), steps.end(), [](const Step* a, const Step* b) { return a->event < b->event; });

  std::vector<std::vector<uint32_t>> blocks;  // by thread: names of open blocks, outermost first
  auto next = steps.begin();
  for (EventBatch batch = source.next(); !batch.empty() && next != steps.end(); batch = source.next()) {
    const Names& names = source.names();
    blocks.resize(std::max<std::size_t>(blocks.size(), names.table(Space::kThread).size()));
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      const Event& event = batch.events[i];
      std::vector<uint32_t>& open = blocks[event.thread];
      if (event.operation == Operation::kBeginAtomic || event.operation == Operation::kBeginDeterministic) {
        open.push_back(event.object);
      } else if (event.operation == Operation::kEnd && !open.empty()) {
        open.pop_back();
      }
      for (; next != steps.end() && (*next)->event == batch.first + i; ++next)
        if (!open.empty()) (*next)->block = names.name(Space::kBlock, open.back());
    }
  }
}

}  // namespace heddle
