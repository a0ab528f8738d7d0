// Predicates of condition variables.
//
// `changed.wait(lock, [&] { return is_ready_; })` calls a loop of the library, which calls the closure, which
// gets to the object by a pointer that it has captured. Seen one by one, neither the lock that is held nor
// the object that it belongs to is known in the closure. So in the copy that summaries are made of, the loop
// and the closure become a part of the function that waits, as the optimizer does it later, and what the
// closure has captured is what it stands for (docs/design/types.md).
#pragma once

#include <llvm/IR/Module.h>

namespace heddle {

// Variables of the module have been made values.
void embed_predicates(llvm::Module& module);

// Whether there is one to become a part of the function, which then has other variables than it has here:
// what is said of them by number is not about these.
bool waits_with_predicate(const llvm::Function& function);

}  // namespace heddle
