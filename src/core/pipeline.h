// One pass over a trace: well-formedness first, then every checker on each batch while it is warm in the
// cache.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/checker.h"
#include "trace/source.h"

namespace heddle {

struct Traversal {
  uint64_t events = 0;
};

// Called after each batch; may draw a progress bar.
using OnProgress = std::function<void(uint64_t events, const TraceSource& source)>;

// Runs all checkers over the whole trace and finishes them. Throws InputError on a trace that is not well
// formed.
Traversal run_checkers(TraceSource& source, std::span<const std::unique_ptr<Checker>> checkers,
                       const OnProgress& on_progress = {});

// Lets the checkers that have decided that something is wrong, but not yet why, see the trace again and add
// their findings. `open_again` opens it from its start; `context` gives the context of a checker, by its
// number, for the second reading. Neither is called when nobody asks.
void explain(std::span<const std::unique_ptr<Checker>> checkers,
             const std::function<std::unique_ptr<TraceSource>()>& open_again,
             const std::function<CheckerContext(std::size_t, const Names&)>& context,
             const OnProgress& on_progress = {});

}  // namespace heddle
