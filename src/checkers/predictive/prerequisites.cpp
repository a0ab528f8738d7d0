#include "checkers/predictive/prerequisites.h"

#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

Prerequisites::Prerequisites(const std::vector<ThreadLog>& logs) {
  const std::vector<Origin> all = list_synchronizations(logs);
  phases_ = find_phases(all);
  for (const auto& [event, index] : all) {
    if (event.operation == Operation::kFork) starts_[event.object] = {event.thread, index};
    if (event.operation == Operation::kPost) posts_[event.object][event.thread].push_back(index);
    if (event.operation != Operation::kArrive) continue;
    if (const auto phase = phases_.find(index); phase != phases_.end())
      arrivals_[phase->second].push_back({event.thread, index});
  }
}

const Prerequisite* Prerequisites::start_of(ThreadId thread) const {
  const auto start = starts_.find(thread);
  return start == starts_.end() ? nullptr : &start->second;
}

}  // namespace heddle::predictive
