// Registers Heddle's passes with clang (-fpass-plugin=).
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "pass/access_names.h"
#include "pass/access_pass.h"
#include "pass/block_pass.h"
#include "pass/condition_loops.h"
#include "pass/flow_pass.h"
#include "pass/focus_pass.h"
#include "pass/library_pass.h"
#include "pass/summary_pass.h"

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {
      LLVM_PLUGIN_API_VERSION, "heddle", "0.1.0", [](llvm::PassBuilder& builder) {
        builder.registerPipelineStartEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
          if (heddle::is_summarizing()) passes.addPass(heddle::SummaryPass());
          if (heddle::is_focusing()) passes.addPass(heddle::FocusPass());
          passes.addPass(heddle::NamePass());
          passes.addPass(heddle::LibraryPass());
          passes.addPass(heddle::ConditionLoopPass());
          passes.addPass(heddle::BlockPass());
          if (heddle::is_following_data()) passes.addPass(heddle::MaybePass());
        });
        builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
          passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::LoopSimplifyPass()));
          if (heddle::is_following_data()) passes.addPass(heddle::FlowPass());
          passes.addPass(heddle::AccessPass());
        });
      }};
}
