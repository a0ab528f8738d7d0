// Atomic operations, as the compiler plug-in marks them. Each counts as acquire and release, whatever its
// order says.
#include "runtime/interpose/real.h"
#include "runtime/sync.h"

namespace heddle::runtime {

HEDDLE_INTERPOSE void heddle_before_atomic(const void* variable) { releasing_shared(variable); }
HEDDLE_INTERPOSE void heddle_after_atomic(const void* variable) { acquired(variable); }

}  // namespace heddle::runtime
