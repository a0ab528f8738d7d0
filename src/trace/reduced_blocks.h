// A trace with fewer events for `blocks` to compare (S4 §6.2): what a block that is proven atomic did becomes
// one read of each variable that it read before it wrote it and one write of each that it wrote, with all
// locks it took, at a moment when it had them all. (S4 keeps only the write of a variable that was read and
// written, which is too little: docs/design/types.md.)
//
// A proven block takes no lock after it has given one back, so there is such a moment, and nobody else has
// any of its locks from when it took them to when it gave them back. A block that did something else than
// access memory and take and give back locks, or did not keep to that, stays as it is; so does all that lies
// in no proven block. S4's proof needs that no deadlock is possible, which `blocks` reports by itself.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trace/event.h"

namespace heddle {

// `is_atomic` tells it of a block by its id. Of proven blocks inside each other the outermost counts.
std::vector<Event> with_reduced_blocks(std::span<const Event> events,
                                       const std::function<bool(uint32_t block)>& is_atomic);

}  // namespace heddle
