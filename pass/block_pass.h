// An early part of the plug-in, before functions are inlined: says where the functions that should be atomic
// or deterministic begin and end.
//
// Such a block is, in this order: a function annotated as one; one that the spec file's patterns name, unless
// they ignore it; a public member function of a monitor class, unless it is ignored.
#pragma once

#include <llvm/IR/PassManager.h>

namespace heddle {

class BlockPass : public llvm::PassInfoMixin<BlockPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace heddle
