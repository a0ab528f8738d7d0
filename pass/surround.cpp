#include "pass/surround.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/EscapeEnumerator.h>

namespace heddle {

using namespace llvm;

namespace {

// What is inserted stands on no line of its own, but the verifier wants calls to have a place.
void ensure_location(IRBuilder<>& builder, Function& function) {
  if (builder.getCurrentDebugLocation() || function.getSubprogram() == nullptr) return;
  builder.SetCurrentDebugLocation(DILocation::get(
      function.getContext(), function.getSubprogram()->getScopeLine(), 0, function.getSubprogram()));
}

// Exceptions that leave are to be seen. LLVM's own choice would be C's personality, and functions of
// different personalities are not inlined into each other.
void choose_personality(Function& function) {
  if (!function.doesNotThrow() && !function.hasPersonalityFn() && function.getName().starts_with("_Z")) {
    auto* const type = FunctionType::get(Type::getInt32Ty(function.getContext()), true);
    function.setPersonalityFn(
        cast<Constant>(function.getParent()->getOrInsertFunction("__gxx_personality_v0", type).getCallee()));
  }
}

}  // namespace

void surround(Function& function, function_ref<void(IRBuilder<>&)> at_entry,
              function_ref<void(IRBuilder<>&, ReturnInst*)> at_exit) {
  choose_personality(function);
  IRBuilder<> entry(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  entry.SetCurrentDebugLocation(DebugLoc());
  ensure_location(entry, function);
  at_entry(entry);
  EscapeEnumerator exits(function, "heddle.unwind", !function.doesNotThrow());
  while (IRBuilder<>* exit = exits.Next()) {
    ensure_location(*exit, function);
    at_exit(*exit, dyn_cast<ReturnInst>(exit->GetInsertBlock()->getTerminator()));
  }
}

void catch_what_leaves(Function& function) {
  choose_personality(function);
  EscapeEnumerator exits(function, "heddle.unwind", !function.doesNotThrow());
  while (exits.Next() != nullptr) {
  }
}

void surround(Instruction& instruction, function_ref<void(IRBuilder<>&)> before,
              function_ref<void(IRBuilder<>&)> after) {
  IRBuilder<> builder(&instruction);
  before(builder);
  if (auto* invoke = dyn_cast<InvokeInst>(&instruction)) {
    BasicBlock* next = invoke->getNormalDest();
    if (next->getSinglePredecessor() == nullptr) next = SplitEdge(invoke->getParent(), next);
    builder.SetInsertPoint(&*next->getFirstInsertionPt());
    builder.SetCurrentDebugLocation(instruction.getDebugLoc());
  } else {
    builder.SetInsertPoint(instruction.getNextNode());
    builder.SetCurrentDebugLocation(instruction.getDebugLoc());
  }
  after(builder);
}

Value* ask_whether_told(IRBuilder<>& builder) {
  Module& module = *builder.GetInsertBlock()->getModule();
  Constant* const where = module.getOrInsertGlobal("heddle_quiet", builder.getPtrTy());
  const auto load = [&](Type* type, Value* from) {
    LoadInst* const value = builder.CreateLoad(type, from);
    value->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(module.getContext(), {}));
    return value;
  };
  Value* const quiet = load(builder.getPtrTy(), where);
  return builder.CreateICmpEQ(load(builder.getInt32Ty(), quiet), builder.getInt32(0));
}

void call_runtime(IRBuilder<>& builder, StringRef name, ArrayRef<Value*> arguments) {
  Module& module = *builder.GetInsertBlock()->getModule();
  SmallVector<Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  FunctionCallee callee =
      module.getOrInsertFunction(name, FunctionType::get(builder.getVoidTy(), types, false));
  if (auto* function = dyn_cast<Function>(callee.getCallee())) function->addFnAttr(Attribute::NoUnwind);
  builder.CreateCall(callee, arguments)->setDoesNotThrow();
}

Argument* object_of(Function& function) {
  const DISubprogram* subprogram = function.getSubprogram();
  if (subprogram == nullptr || subprogram->getType() == nullptr) return nullptr;
  const DITypeRefArray types = subprogram->getType()->getTypeArray();  // what it returns, then parameters
  if (types.size() < 2 || types[1] == nullptr || !types[1]->isObjectPointer()) return nullptr;
  const unsigned index = function.hasStructRetAttr() ? 1 : 0;
  if (index >= function.arg_size() || !function.getArg(index)->getType()->isPointerTy()) return nullptr;
  return function.getArg(index);
}

}  // namespace heddle
