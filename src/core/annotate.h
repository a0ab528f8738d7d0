// Adds to findings what checkers do not carry along on their hot path: the block each step was in, and how
// long the blocks and locks around the steps lasted.
#pragma once

#include <span>

#include "core/finding.h"
#include "trace/source.h"

namespace heddle {

bool needs_blocks(std::span<const Finding> findings);

// Reads `source` (the same trace again, from its start) as far as the last step whose block is not known and
// fills in Step::block.
void annotate_blocks(std::span<Finding> findings, TraceSource& source);

// The same, and fills in Finding::spans: reads on until the last of them has ended.
void annotate_spans(std::span<Finding> findings, TraceSource& source);

}  // namespace heddle
