// The schedule of a predicted finding as a trace in the text format: what `heddle check` reads again.
#pragma once

#include <string>

#include "core/finding.h"

namespace heddle {

// The finding has a schedule. The trace is well formed: a barrier that is left has been arrived at, and
// threads that take no part are not joined.
std::string witness_trace(const Finding& finding);

// Whether the file begins like such a trace.
bool is_witness_trace(const std::string& path);

}  // namespace heddle
