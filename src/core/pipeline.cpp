#include "core/pipeline.h"

#include <algorithm>
#include <vector>

#include "trace/well_formed.h"

namespace heddle {

Traversal run_checkers(TraceSource& source, std::span<const std::unique_ptr<Checker>> checkers,
                       const OnProgress& on_progress) {
  WellFormed well_formed;
  Traversal traversal;
  for (EventBatch batch = source.next(); !batch.empty(); batch = source.next()) {
    well_formed.process(batch, source);
    for (const auto& checker : checkers) checker->process(batch);
    traversal.events += batch.events.size();
    if (on_progress) on_progress(traversal.events, source);
    if (!checkers.empty() && std::all_of(checkers.begin(), checkers.end(),
                                         [](const auto& checker) { return checker->has_seen_enough(); }))
      break;
  }
  for (const auto& checker : checkers) checker->finish();
  return traversal;
}

void explain(std::span<const std::unique_ptr<Checker>> checkers,
             const std::function<std::unique_ptr<TraceSource>()>& open_again,
             const std::function<CheckerContext(std::size_t, const Names&)>& context,
             const OnProgress& on_progress) {
  if (std::none_of(checkers.begin(), checkers.end(),
                   [](const auto& checker) { return checker->has_more_to_explain(); }))
    return;
  const std::unique_ptr<TraceSource> source = open_again();
  std::vector<std::unique_ptr<Checker>> explainers;
  for (std::size_t i = 0; i < checkers.size(); ++i)
    if (checkers[i]->has_more_to_explain())
      explainers.push_back(checkers[i]->explainer(context(i, source->names())));
  run_checkers(*source, explainers, on_progress);
}

}  // namespace heddle
