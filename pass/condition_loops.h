// Marks where the program begins to wait for a condition: before each loop in which it waits,
//
//     while (queue.empty()) changed.wait(lock);
//
// which is what `changed.wait(lock, predicate)` is, too. A function with such a loop lets others in on
// purpose when it has to wait. When it does not have to, the loop leaves no other trace of that.
//
// If the lock is taken right before, the wait begins there: a thread that comes too late to wait gets the
// lock from those for whom it would have waited.
#pragma once

#include <llvm/IR/PassManager.h>

namespace heddle {

class ConditionLoopPass : public llvm::PassInfoMixin<ConditionLoopPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace heddle
