#include "target.h"
#include "trace/well_formed.h"

namespace heddle::fuzz {

void read_all(TraceSource& source) {
  WellFormed well_formed;
  volatile std::size_t sink = 0;  // keeps the look-ups
  for (EventBatch batch = source.next(); !batch.empty(); batch = source.next()) {
    const Names& names = source.names();
    for (const Event& event : batch.events) {
      const OperationInfo& operation = info(event.operation);
      std::size_t letters = names.thread(event.thread).size() + names.name(Space::kValue, event.value).size();
      if (operation.space != Space::kNone) letters += names.name(operation.space, event.object).size();
      const bool list = operation.operands == Operands::kAssign;
      letters += names.name(list ? Space::kLocalList : Space::kLocal, event.local).size();
      for (SiteId site = event.site; site != kNoId; site = names.sites()[site].caller)
        letters += names.name(Space::kFrame, names.sites()[site].frame).size();
      sink = sink + letters;
    }
    well_formed.process(batch, source);
  }
  sink = sink + source.note().size();
}

}  // namespace heddle::fuzz
