#include "pass/condition_loops.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "pass/source_names.h"
#include "pass/surround.h"

namespace heddle {

using namespace llvm;

namespace {

bool waits_for_condition(const Function& callee) {
  const StringRef symbol = callee.getName();
  if (symbol.starts_with("pthread_cond_")) return symbol.ends_with("wait");
  if (symbol == "cnd_wait" || symbol == "cnd_timedwait") return true;
  // Asked first, since taking a name apart takes time.
  if (!symbol.contains("condition_variable")) return false;
  const std::string name = name_of(callee).qualified;
  StringRef function = name;
  return (function.consume_front("std::condition_variable::") ||
          function.consume_front("std::_V2::condition_variable_any::")) &&
         (function == "wait" || function == "wait_for" || function == "wait_until");
}

bool takes_lock(const Function& callee) {
  const StringRef symbol = callee.getName();
  if (symbol == "pthread_mutex_lock" || symbol == "mtx_lock") return true;
  if (!symbol.contains("lock") && !symbol.contains("mutex")) return false;
  const std::string name = name_of(callee).qualified;
  return name == "std::unique_lock::unique_lock" || name == "std::unique_lock::lock" ||
         name == "std::shared_lock::shared_lock" || name == "std::shared_lock::lock" ||
         name == "std::mutex::lock";
}

const Function* callee_of(const Instruction& instruction) {
  const auto* const call = dyn_cast<CallBase>(&instruction);
  return call == nullptr || isa<IntrinsicInst>(call) ? nullptr : call->getCalledFunction();
}

SmallVector<Instruction*> waits_of(Function& function) {
  SmallVector<Instruction*> found;
  for (Instruction& instruction : instructions(function))
    if (const Function* callee = callee_of(instruction); callee != nullptr && waits_for_condition(*callee))
      found.push_back(&instruction);
  return found;
}

// Whether others can see what it does.
bool is_seen_by_others(const Instruction& instruction) {
  if (isa<IntrinsicInst>(instruction)) return false;
  const Value* const address = getLoadStorePointerOperand(&instruction);
  if (address != nullptr && !instruction.isAtomic()) return !isa<AllocaInst>(getUnderlyingObject(address));
  return instruction.mayReadOrWriteMemory();
}

bool is_call_that_locks(const Instruction& instruction) {
  const Function* const callee = callee_of(instruction);
  return callee != nullptr && takes_lock(*callee);
}

// The call before this place that takes the lock to wait with; null: something else lies between.
Instruction* lock_right_before(Instruction* place) {
  for (;;) {
    if (Instruction* const before = place->getPrevNode(); before != nullptr) {
      place = before;
    } else {
      BasicBlock* const block = place->getParent()->getUniquePredecessor();
      if (block == nullptr) return nullptr;
      place = block->getTerminator();
      const auto* const branch = dyn_cast<BranchInst>(place);
      if (branch != nullptr && branch->isUnconditional()) continue;
      return is_call_that_locks(*place) ? place : nullptr;
    }
    if (is_call_that_locks(*place)) return place;
    if (is_seen_by_others(*place)) return nullptr;
  }
}

void mark(Instruction& place) {
  IRBuilder<> builder(&place);
  call_runtime(builder, "heddle_begin_condition_loop", {});
}

void mark_waits(Function& function, ArrayRef<Instruction*> waits) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  SmallSetVector<Instruction*, 4> places;
  for (Instruction* wait : waits) {
    if (!dominators.isReachableFromEntry(wait->getParent())) continue;
    if (Instruction* const lock = lock_right_before(wait); lock != nullptr) {
      places.insert(lock);
      continue;
    }
    places.insert(wait);  // with a predicate it need not wait; without, it makes no difference
    Loop* const loop = loops.getLoopFor(wait->getParent());
    if (loop == nullptr) continue;
    BasicBlock* before = loop->getLoopPreheader();
    if (before == nullptr) before = InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, false);
    if (before == nullptr) continue;  // it is entered by a computed goto
    Instruction* const lock = lock_right_before(before->getTerminator());
    places.insert(lock != nullptr ? lock : before->getTerminator());
  }
  for (Instruction* place : places) mark(*place);
}

}  // namespace

PreservedAnalyses ConditionLoopPass::run(Module& module, ModuleAnalysisManager&) {
  for (Function& function : module) {
    const auto waits = waits_of(function);
    // The library's own loops begin where the program calls them.
    if (!waits.empty() && !name_of(function).is_of_library()) mark_waits(function, waits);
  }
  return PreservedAnalyses::none();
}

}  // namespace heddle
