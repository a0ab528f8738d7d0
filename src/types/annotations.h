// Owners as attributes of Clang's thread-safety analysis, as a patch to the source.
#pragma once

#include <string>

#include "types/check.h"
#include "types/owners.h"
#include "types/program.h"

namespace heddle::types {

// A unified diff for `patch -p0`. Annotates what is proven and what Clang can follow; lines that begin with
// '#' in front of the diff say what is left out and why. Mutexes become heddle::Mutex, guards
// heddle::MutexLock (include/heddle/thread_safety.h), since the standard library's carry no attributes.
std::string annotation_patch(const Program& program, const Types& types, const CheckResult& result);

}  // namespace heddle::types
