#include "core/pipeline.h"

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
  }
  for (const auto& checker : checkers) checker->finish();
  return traversal;
}

}  // namespace heddle
