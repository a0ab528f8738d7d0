#include "pass/trivial_blocks.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "runtime/blocks.h"

namespace heddle {

using namespace llvm;

namespace {

constexpr uint64_t kMostBytes = 8;  // of one access: more are several variables

// The block that the instruction begins or ends, by the name of the runtime's function; null: none.
const Value* block_marked_by(const Instruction& instruction, StringRef function) {
  const auto* const call = dyn_cast<CallInst>(&instruction);
  const Function* const callee = call != nullptr ? call->getCalledFunction() : nullptr;
  return callee != nullptr && callee->getName() == function ? call->getArgOperand(0) : nullptr;
}

bool is_atomic_block(const Value* block) {
  const auto* const descriptor = dyn_cast<GlobalVariable>(block);
  if (descriptor == nullptr || !descriptor->hasInitializer()) return false;
  const auto* const kind =
      dyn_cast_or_null<ConstantInt>(descriptor->getInitializer()->getAggregateElement(1));
  return kind != nullptr && kind->getZExtValue() == kHeddleAtomic;
}

enum class Does { kNothing, kOneAccess, kMore };
Does what_it_does(Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile() || instruction.mayThrow() ||
      !instruction.willReturn())
    return Does::kMore;
  if (!instruction.mayReadOrWriteMemory() || instruction.isDebugOrPseudoInst() ||
      instruction.isLifetimeStartOrEnd())
    return Does::kNothing;
  if (!isa<LoadInst>(instruction) && !isa<StoreInst>(instruction)) return Does::kMore;
  const TypeSize size =
      instruction.getModule()->getDataLayout().getTypeStoreSize(getLoadStoreType(&instruction));
  return !size.isScalable() && size.getFixedValue() <= kMostBytes ? Does::kOneAccess : Does::kMore;
}

// Where the block that begins here ends, if it does so in the same stretch of code and is trivial; else null.
Instruction* end_of_trivial(Instruction& begin) {
  const Value* const block = block_marked_by(begin, "heddle_begin_block");
  if (block == nullptr || !is_atomic_block(block)) return nullptr;
  unsigned accesses = 0;
  for (Instruction* next = begin.getNextNode(); next != nullptr; next = next->getNextNode()) {
    if (block_marked_by(*next, "heddle_end_block") == block) return next;
    const Does does = what_it_does(*next);
    if (does == Does::kMore || (does == Does::kOneAccess && ++accesses > 1)) return nullptr;
  }
  return nullptr;
}

}  // namespace

void remove_trivial_blocks(Function& function) {
  for (BasicBlock& code : function) {
    // From the end: inner ones first.
    for (Instruction* instruction = &code.back(); instruction != nullptr;) {
      Instruction* const before = instruction->getPrevNode();
      if (Instruction* const end = end_of_trivial(*instruction)) {
        // `heddle spec` lists it all the same.
        auto* const block = cast<GlobalVariable>(cast<CallInst>(instruction)->getArgOperand(0));
        appendToCompilerUsed(*function.getParent(), {block});
        end->eraseFromParent();
        instruction->eraseFromParent();
      }
      instruction = before;
    }
  }
}

}  // namespace heddle
