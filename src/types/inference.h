// Owners of fields and what methods require (S4 §4): from what runs saw and, where no run came, from the
// code.
#pragma once

#include "types/discovery_log.h"
#include "types/owners.h"
#include "types/program.h"

namespace heddle::types {

// An owner is only proposed here; types/check.h proves or refutes it.
Types infer_types(const Program& program, const DiscoveryLog& log);

}  // namespace heddle::types
