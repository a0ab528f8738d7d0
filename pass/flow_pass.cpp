#include "pass/flow_pass.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "pass/flow_function.h"

namespace heddle {

using namespace llvm;

namespace {

cl::opt<bool> follows_data("heddle-dataflow", cl::desc("tell what values depend on"));

bool is_to_be_followed(const Function& function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) &&
         !function.hasFnAttribute(Attribute::Naked) && !function.getName().starts_with("heddle_");
}

}  // namespace

bool is_following_data() { return follows_data; }

PreservedAnalyses FlowPass::run(Module& module, ModuleAnalysisManager& analyses) {
  auto& of_functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  FlowModule shared(module);
  SmallVector<Function*> functions;
  for (Function& function : module)
    if (is_to_be_followed(function)) functions.push_back(&function);
  for (Function* function : functions) FunctionFlow(shared, *function).run(of_functions);
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallBase>(&instruction)) call->removeFnAttr(Attribute::Memory);
  FunctionCallee built =
      module.getOrInsertFunction("heddle_flow_is_built", Type::getVoidTy(module.getContext()));
  appendToGlobalCtors(module, cast<Function>(built.getCallee()), 1000);
  return PreservedAnalyses::none();
}

}  // namespace heddle
