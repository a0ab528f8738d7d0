#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "pass/function_summary.h"
#include "pass/library_functions.h"
#include "types/program.h"

namespace heddle {

using namespace llvm;

namespace {

// What a function of the library gives to another one. What std::make_unique gets from operator new is its
// result's: the constructor of the object must not tell others of it.
std::string path_of(const Value& given, bool makes_unique) {
  if (const auto* argument = dyn_cast<Argument>(&given)) return "p" + std::to_string(argument->getArgNo());
  const auto* const made = dyn_cast<CallBase>(&given);
  if (!makes_unique || made == nullptr || made->getCalledFunction() == nullptr) return "?";
  return made->getCalledFunction()->getName().starts_with("_Znw") ? "p0/^" : "?";
}

bool joins(const Function& callee) {
  return callee.getName() == "_ZNSt6thread4joinEv" || callee.getName() == "pthread_join";
}

}  // namespace

FunctionSummary summarize_library(const Function& function,
                                  const SmallPtrSetImpl<const Function*>& reaching) {
  FunctionSummary summary;
  SummaryBlock& block = summary.blocks.emplace_back();
  SmallPtrSet<const void*, 8> seen;
  const bool makes_unique = makes_owner(function.getName());
  for (const Instruction& instruction : instructions(function)) {
    const auto* call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr || call->isInlineAsm() || isa<IntrinsicInst>(call)) continue;
    SummaryOperation operation{"call", "", "", {}, &instruction};
    for (const Use& argument : call->args())
      operation.arguments.push_back(path_of(*argument.get(), makes_unique));
    const Function* const callee = call->getCalledFunction();
    if (callee == nullptr) {
      if (!seen.insert(call->getFunctionType()).second) continue;
      operation.path = signature_of(*call->getFunctionType());
    } else {
      if (!seen.insert(callee).second) continue;
      if (starts_thread(callee->getName())) {
        block.operations.push_back({"fork", types::kKeeper, "", {}, &instruction});
        continue;
      }
      if (joins(*callee)) block.operations.push_back({"order", types::kOrdersAfter, "", {}, &instruction});
      const bool matters = is_library_function(*callee) ? reaching.contains(callee)
                                                        : !(callee->isDeclaration() && is_harmless(*callee));
      if (!matters) continue;
      operation.callee = unique_symbol(*callee);
      operation.path = types::kKeeper;  // what it starts for an object is kept where this function's is
    }
    block.operations.push_back(std::move(operation));
  }
  // It may keep what it is given: the library's containers are there for it.
  for (const Argument& argument : function.args())
    if (argument.getType()->isPointerTy() && !(makes_unique && argument.hasStructRetAttr()))
      block.operations.insert(
          block.operations.begin(),
          {"leak", "p" + std::to_string(argument.getArgNo()), "", {}, &*instructions(function).begin()});
  return summary;
}

void find_reaching(const Module& module, SmallPtrSetImpl<const Function*>& reaching) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Function& function : module) {
      if (function.isDeclaration() || reaching.contains(&function) || !is_library_function(function))
        continue;
      const bool reaches = any_of(instructions(function), [&](const Instruction& instruction) {
        const auto* call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr || call->isInlineAsm() || isa<IntrinsicInst>(call)) return false;
        const Function* const callee = call->getCalledFunction();
        if (callee == nullptr || starts_thread(callee->getName()) || joins(*callee)) return true;
        if (is_library_function(*callee)) return reaching.contains(callee);
        return !(callee->isDeclaration() && is_harmless(*callee));
      });
      if (!reaches) continue;
      reaching.insert(&function);
      has_changed = true;
    }
  }
}

}  // namespace heddle
