// The late part of the plug-in: every access to memory that another thread may share is checked against the
// shadow, in line; only what the thread has not done in the present stretch calls the runtime.
#pragma once

#include <llvm/IR/PassManager.h>

namespace heddle {

class AccessPass : public llvm::PassInfoMixin<AccessPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace heddle
