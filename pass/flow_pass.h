// Data flow (--heddle-dataflow): every value gets a label that says what it depends on, and every access,
// every computation from several labels and every branch is told with its labels (runtime/flow.h,
// docs/design/dataflow.md).
//
// Early, MaybePass sees to it that what an `if (HEDDLE_MAYBE)` changes stays visible at its end, and refuses
// bodies that are left by the side. Late, before AccessPass, FlowPass does the rest; AccessPass leaves alone
// what it marked.
#pragma once

#include <llvm/IR/PassManager.h>

namespace heddle {

// Whether the option is given.
bool is_following_data();

class MaybePass : public llvm::PassInfoMixin<MaybePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

class FlowPass : public llvm::PassInfoMixin<FlowPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace heddle
