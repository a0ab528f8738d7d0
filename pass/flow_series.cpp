#include "pass/flow_series.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "runtime/series.h"

namespace heddle {

using namespace llvm;

namespace {

// The accesses of a loop that go through memory in equal steps.
class SeriesAddresses {
 public:
  SeriesAddresses(SeriesLoop& to, Loop& loop, ScalarEvolution& evolution, SCEVExpander& expander)
      : to_(to), loop_(loop), evolution_(evolution), expander_(expander) {}

  void add(Value* pointer) {
    if (to_.places.contains(pointer) || !evolution_.isSCEVable(pointer->getType())) return;
    const SCEV* const whole = evolution_.getSCEV(pointer);
    const SCEV* start = whole;
    const SCEV* stride = evolution_.getZero(Type::getInt64Ty(pointer->getContext()));
    if (const auto* series = dyn_cast<SCEVAddRecExpr>(whole);
        series != nullptr && series->getLoop() == &loop_) {
      if (!series->isAffine()) return;
      start = series->getStart();
      stride = series->getStepRecurrence(evolution_);
    }
    if (!evolution_.isLoopInvariant(start, &loop_) || !evolution_.isLoopInvariant(stride, &loop_)) return;
    for (unsigned i = 0; i < starts_.size(); ++i) {
      if (starts_[i].second != stride) continue;
      const auto* const distance = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(start, starts_[i].first));
      if (distance == nullptr || distance->getAPInt().getSignificantBits() > 31) continue;
      to_.places[pointer] = {static_cast<uint16_t>(i),
                             static_cast<int32_t>(distance->getAPInt().getSExtValue())};
      return;
    }
    Instruction* const at = to_.preheader->getTerminator();
    const bool has_start = expander_.isSafeToExpandAt(start, at);
    if ((!has_start && loop_.getNumBlocks() > 1) || !expander_.isSafeToExpandAt(stride, at)) return;
    IRBuilder<> builder(at);
    Value* const first =
        has_start
            ? builder.CreatePtrToInt(expander_.expandCodeFor(start, pointer->getType(), at->getIterator()),
                                     builder.getInt64Ty())
            : nullptr;
    Value* const apart = expander_.expandCodeFor(stride, builder.getInt64Ty(), at->getIterator());
    to_.places[pointer] = {static_cast<uint16_t>(starts_.size()), 0};
    starts_.emplace_back(start, stride);
    to_.addresses.push_back({first, pointer, apart});
  }

 private:
  SeriesLoop& to_;
  Loop& loop_;
  ScalarEvolution& evolution_;
  SCEVExpander& expander_;
  SmallVector<std::pair<const SCEV*, const SCEV*>> starts_;
};

bool is_fit_loop(Loop& loop, function_ref<bool(const Instruction&)> is_fit) {
  if (!loop.isInnermost() || loop.getLoopPreheader() == nullptr || loop.getLoopLatch() == nullptr ||
      !loop.hasDedicatedExits() || loop.getNumBlocks() > runtime::kMostBlocks)
    return false;
  bool has_access = false;
  for (BasicBlock* block : loop.blocks())
    for (Instruction& instruction : *block) {
      if (!is_fit(instruction)) return false;
      has_access |= isa<LoadInst>(instruction) || isa<StoreInst>(instruction);
    }
  SmallVector<BasicBlock*> exits;
  loop.getExitBlocks(exits);
  return has_access && !exits.empty();
}

}  // namespace

SmallVector<SeriesLoop> find_series_loops(Function& function, FunctionAnalysisManager& analyses,
                                          function_ref<bool(const Instruction&)> is_fit) {
  SmallVector<SeriesLoop> found;
  LoopInfo& loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty()) return found;
  ScalarEvolution& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SCEVExpander expander(evolution, function.getParent()->getDataLayout(), "heddle");
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!is_fit_loop(*loop, is_fit)) continue;
    SeriesLoop& series = found.emplace_back();
    series.preheader = loop->getLoopPreheader();
    series.latch = loop->getLoopLatch();
    LoopBlocksRPO order(loop);
    order.perform(&loops);
    series.blocks.append(order.begin(), order.end());
    loop->getUniqueExitBlocks(series.exits);
    SeriesAddresses addresses(series, *loop, evolution, expander);
    for (BasicBlock* block : series.blocks)
      for (Instruction& instruction : *block)
        if (auto* pointer = getLoadStorePointerOperand(&instruction))
          addresses.add(const_cast<Value*>(pointer));
  }
  return found;
}

}  // namespace heddle
