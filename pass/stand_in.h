// Locks that stand for what they guard, in focused builds with typed methods.
//
// Typed methods use guarded fields without checks, others use the same fields with checks but perhaps without
// the lock: neither would meet the other. So whoever takes the lock is said to write to the lock's own
// memory, which nobody else does; and code that is not typed is said to use that memory whenever it uses a
// guarded field, or calls a typed method that needs the lock. What is unordered there is reported as a use of
// what the lock guards without it (HD1004): potential, because it need not be the same field.
#pragma once

#include <llvm/IR/Module.h>

#include "pass/focus_file.h"

namespace heddle {

void insert_stand_ins(llvm::Module& module, const FocusFile& focus);

}  // namespace heddle
