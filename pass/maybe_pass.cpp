// `if (HEDDLE_MAYBE)` (heddle/parallel.h), before anything is optimized.
//
// Leaving a body out may only change what the body changes. Memory is seen by its accesses; but a variable
// that lives in a register is a value like any other later on, and where it was assigned is lost. So here,
// where it still is memory, its value passes through heddle.out(value, value before) at the body's end.
// Variables that are more than one value, or whose address somebody has, are kept in memory (heddle.keep).
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "pass/flow_pass.h"

namespace heddle {

using namespace llvm;

namespace {

bool calls(const Instruction& instruction, StringRef name) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  const Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
  return callee != nullptr && callee->getName() == name;
}

// Of heddle::detail, in heddle/parallel.h.
bool begins_condition(const Instruction& i) { return calls(i, "_ZNK6heddle6detail10MaybeBegincvbEv"); }
bool ends_condition(const Instruction& i) { return calls(i, "_ZN6heddle6detail5MaybelSEb"); }
bool leaves_condition(const Instruction& i) {
  return calls(i, "_ZN6heddle6detail10MaybeBeginD2Ev") || calls(i, "_ZN6heddle6detail10MaybeBeginD1Ev");
}
bool begins_body(const Instruction& i) { return calls(i, "_ZN6heddle6detail5MaybelSERKNS0_10MaybeBeginE"); }
bool ends_body(const Instruction& i, const Value* maybe) {
  return (calls(i, "_ZN6heddle6detail5MaybeD2Ev") || calls(i, "_ZN6heddle6detail5MaybeD1Ev")) &&
         cast<CallBase>(i).getArgOperand(0) == maybe;
}

// Not one that the compiler made for itself, as far as debug information says.
bool is_of_program(AllocaInst* variable) {
  const DISubprogram* const function = variable->getFunction()->getSubprogram();
  // With -g1 it says nothing of variables.
  return function == nullptr || function->getUnit() == nullptr ||
         function->getUnit()->getEmissionKind() != DICompileUnit::FullDebug ||
         variable->hasMetadata(LLVMContext::MD_DIAssignID) || !findDbgDeclares(variable).empty() ||
         !findDVRDeclares(variable).empty();
}

class Region {
 public:
  explicit Region(CallBase& begin) : begin_(begin), is_body_(begins_body(begin)) {
    SmallVector<BasicBlock*> left;
    walk(std::next(begin.getIterator()), begin.getParent(), left);
    while (!left.empty()) {
      BasicBlock* const block = left.pop_back_val();
      if (entered_.insert(block).second) walk(block->begin(), block, left);
    }
  }

  const SmallSetVector<AllocaInst*, 8>& assigned() const { return assigned_; }
  ArrayRef<Instruction*> ends() const { return ends_; }
  CallBase& begin() const { return begin_; }
  bool is_body() const { return is_body_; }
  bool has(const BasicBlock* block) const { return entered_.contains(block); }
  // Whether the variable is of the region alone: it is nothing before, so that nobody can say whether it
  // changes.
  bool is_local(const AllocaInst* variable) const {
    return all_of(variable->users(), [&](const User* user) {
      return isa<IntrinsicInst>(user) || inside_.contains(cast<Instruction>(user));
    });
  }

 private:
  bool is_end(const Instruction& instruction) const {
    if (is_body_) return ends_body(instruction, begin_.getArgOperand(0));
    return ends_condition(instruction) || leaves_condition(instruction);
  }
  void walk(BasicBlock::iterator at, BasicBlock* block, SmallVectorImpl<BasicBlock*>& left) {
    for (; at != block->end(); ++at) {
      if (is_end(*at)) {
        ends_.push_back(&*at);
        return;
      }
      inside_.insert(&*at);
      if (auto* store = dyn_cast<StoreInst>(&*at))
        if (auto* variable = dyn_cast<AllocaInst>(store->getPointerOperand()))
          if (isAllocaPromotable(variable) && is_of_program(variable)) assigned_.insert(variable);
    }
    for (BasicBlock* next : successors(block)) left.push_back(next);
  }

  CallBase& begin_;
  bool is_body_;
  SmallPtrSet<const BasicBlock*, 16> entered_;
  SmallPtrSet<const Instruction*, 32> inside_;
  SmallSetVector<AllocaInst*, 8> assigned_;
  SmallVector<Instruction*, 4> ends_;
};

void refuse(const Instruction& at, const Twine& why) {
  at.getContext().diagnose(DiagnosticInfoUnsupported(*at.getFunction(), why, at.getDebugLoc(), DS_Error));
}

// The body is left at its end alone, and there is nothing that is done instead of it.
void check_shape(const Region& region) {
  for (const Instruction* end : region.ends()) {
    if (end->getParent()->isLandingPad()) continue;
    const Instruction* next = end->getNextNode();
    while (next != nullptr && (isa<IntrinsicInst>(next) || isa<LoadInst>(next))) next = next->getNextNode();
    const auto* branch = dyn_cast_or_null<BranchInst>(next);
    if (isa_and_nonnull<SwitchInst>(next) || (branch != nullptr && branch->isConditional()))
      return refuse(region.begin(),
                    "break, continue, return or goto leaves the body of if (HEDDLE_MAYBE): the sequential "
                    "version may leave the body out, so it must end where it ends; use a variable, or "
                    "if (HEDDLE_MAYBE && condition), which leaves out the condition alone");
  }
  for (const User* user : region.begin().users()) {
    const auto* branch = dyn_cast<BranchInst>(user);
    if (branch == nullptr || !branch->isConditional()) continue;
    const BasicBlock* const otherwise = branch->getSuccessor(1);
    bool ends_at_once = false;
    for (const Instruction* end : region.ends()) ends_at_once |= end->getParent() == otherwise;
    bool is_after_body = false;
    for (const BasicBlock* before : predecessors(otherwise))
      is_after_body |= before != branch->getParent() && region.has(before);
    if (!ends_at_once && !is_after_body)
      return refuse(region.begin(),
                    "if (HEDDLE_MAYBE) has an else: write what is to be done in both cases behind it");
  }
}

FunctionCallee out_function(Module& module, Type* type) {
  std::string name = "heddle.out.";
  raw_string_ostream(name) << *type;
  FunctionCallee out = module.getOrInsertFunction(name, type, type, type);
  auto* const function = cast<Function>(out.getCallee());
  function->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  function->setDoesNotThrow();
  function->setWillReturn();
  return out;
}

void show_at_ends(const Region& region) {
  Module& module = *region.begin().getModule();
  for (AllocaInst* variable : region.assigned()) {
    Type* const type = variable->getAllocatedType();
    if ((!type->isIntOrPtrTy() && !type->isFloatingPointTy()) || region.is_local(variable)) continue;
    IRBuilder<> builder(&region.begin());
    Value* const before = builder.CreateFreeze(builder.CreateLoad(type, variable));
    for (Instruction* end : region.ends()) {
      if (end->getParent()->isLandingPad()) continue;
      builder.SetInsertPoint(end);
      Value* const now = builder.CreateLoad(type, variable);
      builder.CreateStore(builder.CreateCall(out_function(module, type), {now, before}), variable);
    }
  }
}

void keep_in_memory(Function& function) {
  Module& module = *function.getParent();
  IRBuilder<> builder(function.getContext());
  SmallVector<Instruction*> kept;
  for (Instruction& instruction : instructions(function)) {
    if (const auto* variable = dyn_cast<AllocaInst>(&instruction)) {
      const auto* type = dyn_cast<StructType>(variable->getAllocatedType());
      const bool is_mark =
          type != nullptr && type->hasName() && (type->getName().starts_with("class.heddle::detail::Maybe"));
      if (!is_mark && !isAllocaPromotable(variable)) kept.push_back(&instruction);
    } else if (const auto* call = dyn_cast<CallInst>(&instruction)) {
      if (call->returnDoesNotAlias()) kept.push_back(&instruction);
    }
  }
  FunctionCallee keep = module.getOrInsertFunction("heddle.keep", builder.getVoidTy(), builder.getPtrTy());
  auto* const declared = cast<Function>(keep.getCallee());
  declared->setMemoryEffects(MemoryEffects::inaccessibleOrArgMemOnly());
  declared->setDoesNotThrow();
  declared->setWillReturn();
  for (Instruction* memory : kept) {
    // Allocas stay together.
    Instruction* at = memory->getNextNode();
    if (isa<AllocaInst>(memory)) at = &*memory->getParent()->getFirstNonPHIOrDbgOrAlloca();
    builder.SetInsertPoint(at);
    builder.SetCurrentDebugLocation(memory->getDebugLoc());
    builder.CreateCall(keep, {memory});
  }
}

}  // namespace

PreservedAnalyses MaybePass::run(Module& module, ModuleAnalysisManager&) {
  for (Function& function : module) {
    if (function.getName().starts_with("_ZN6heddle6detail") ||
        function.getName().starts_with("_ZNK6heddle6detail"))
      continue;
    SmallVector<CallBase*> begins;
    for (Instruction& instruction : instructions(function))
      if (begins_condition(instruction) || begins_body(instruction))
        begins.push_back(cast<CallBase>(&instruction));
    if (begins.empty()) continue;
    // Inlined, what is memory here would be a register of the caller.
    function.removeFnAttr(Attribute::AlwaysInline);
    function.addFnAttr(Attribute::NoInline);
    keep_in_memory(function);
    for (CallBase* begin : begins) {
      const Region region(*begin);
      if (region.is_body()) check_shape(region);
      show_at_ends(region);
    }
  }
  return PreservedAnalyses::none();
}

}  // namespace heddle
