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

#include <optional>
#include <vector>

#include "runtime/series.h"

namespace heddle {

using namespace llvm;

namespace {

// What an address of a loop's access is a series of.
struct Evolving {
  const SCEV* start = nullptr;
  const SCEV* stride = nullptr;
};

// As far as it goes on in equal steps with each round; none: it does not.
Evolving in_series(const SCEV* whole, const Loop& loop, ScalarEvolution& evolution) {
  Evolving found{whole, evolution.getZero(evolution.getEffectiveSCEVType(whole->getType()))};
  if (const auto* series = dyn_cast<SCEVAddRecExpr>(whole); series != nullptr && series->getLoop() == &loop) {
    if (!series->isAffine()) return {};
    found = {series->getStart(), series->getStepRecurrence(evolution)};
  }
  if (!evolution.isLoopInvariant(found.start, &loop) || !evolution.isLoopInvariant(found.stride, &loop))
    return {};
  return found;
}

// How far one begins behind the other; none: that is not known, or they are not equally far apart later.
std::optional<int32_t> distance(const Evolving& one, const Evolving& other, ScalarEvolution& evolution) {
  if (one.stride != other.stride) return std::nullopt;
  const auto* const known = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(one.start, other.start));
  if (known == nullptr || known->getAPInt().getSignificantBits() > 31) return std::nullopt;
  return static_cast<int32_t>(known->getAPInt().getSExtValue());
}

// The accesses of a loop that go through memory in equal steps.
class SeriesAddresses {
 public:
  SeriesAddresses(SeriesLoop& to, Loop& loop, LoopInfo& loops, ScalarEvolution& evolution,
                  SCEVExpander& expander)
      : to_(to), loop_(loop), loops_(loops), evolution_(evolution), expander_(expander) {}

  void add(Value* pointer, const BasicBlock* at) {
    if (to_.places.contains(pointer) || to_.walking.contains(pointer) ||
        !evolution_.isSCEVable(pointer->getType()))
      return;
    const SCEV* const whole = evolution_.getSCEV(pointer);
    if (add_in_series(pointer, in_series(whole, loop_, evolution_))) return;
    for (const Loop* inner = loops_.getLoopFor(at); inner != &loop_; inner = inner->getParentLoop())
      if (add_walk(pointer, *inner, in_series(whole, *inner, evolution_))) return;
  }

 private:
  bool add_in_series(Value* pointer, const Evolving& series) {
    if (series.start == nullptr) return false;
    for (unsigned i = 0; i < starts_.size(); ++i)
      if (const auto apart = distance(series, starts_[i], evolution_)) {
        to_.places[pointer] = {static_cast<uint16_t>(i), *apart};
        return true;
      }
    Instruction* const at = to_.preheader->getTerminator();
    const bool has_start = expander_.isSafeToExpandAt(series.start, at);
    if ((!has_start && loop_.getNumBlocks() > 1) || !expander_.isSafeToExpandAt(series.stride, at))
      return false;
    IRBuilder<> builder(at);
    Value* const first =
        has_start ? builder.CreatePtrToInt(
                        expander_.expandCodeFor(series.start, pointer->getType(), at->getIterator()),
                        builder.getInt64Ty())
                  : nullptr;
    Value* const apart = expander_.expandCodeFor(series.stride, builder.getInt64Ty(), at->getIterator());
    to_.places[pointer] = {static_cast<uint16_t>(starts_.size()), 0};
    starts_.push_back(series);
    to_.addresses.push_back({first, pointer, apart});
    return true;
  }

  // Where it begins is kept each time the inner loop is entered.
  bool add_walk(Value* pointer, const Loop& inner, const Evolving& series) {
    if (series.start == nullptr) return false;
    const auto* const stride = dyn_cast<SCEVConstant>(series.stride);
    if (stride == nullptr || stride->getAPInt().getSignificantBits() > 63) return false;
    for (unsigned i = 0; i < to_.walks.size(); ++i) {
      if (to_.walks[i].header != inner.getHeader()) continue;
      if (const auto apart = distance(series, walk_starts_[i], evolution_)) {
        to_.walking[pointer] = {static_cast<uint16_t>(i), *apart};
        return true;
      }
    }
    Instruction* const at = inner.getLoopPreheader()->getTerminator();
    if (!expander_.isSafeToExpandAt(series.start, at)) return false;
    IRBuilder<> builder(at);
    Value* const first = builder.CreatePtrToInt(
        expander_.expandCodeFor(series.start, pointer->getType(), at->getIterator()), builder.getInt64Ty());
    to_.walking[pointer] = {static_cast<uint16_t>(to_.walks.size()), 0};
    walk_starts_.push_back(series);
    to_.walks.push_back({at->getParent(), inner.getHeader(), inner.getLoopLatch(),
                         SmallVector<BasicBlock*>(inner.blocks()), first, stride->getAPInt().getSExtValue()});
    return true;
  }

  SeriesLoop& to_;
  Loop& loop_;
  LoopInfo& loops_;
  ScalarEvolution& evolution_;
  SCEVExpander& expander_;
  SmallVector<Evolving> starts_;
  SmallVector<Evolving> walk_starts_;
};

// As a part of the loop around it, an inner loop keeps a byte a round, and its addresses are looked at one by
// one. That is less than telling it by itself if it has few rounds, or keeps addresses anyway.
bool is_better_told_within(Loop& inner, ScalarEvolution& evolution) {
  constexpr unsigned kFewRounds = 16;
  const unsigned rounds = evolution.getSmallConstantMaxTripCount(&inner);
  if (rounds > 0 && rounds <= kFewRounds) return true;
  if (inner.getNumBlocks() > 1) return false;
  return any_of(*inner.getHeader(), [&](const Instruction& instruction) {
    auto* const pointer = const_cast<Value*>(getLoadStorePointerOperand(&instruction));
    return pointer != nullptr && evolution.isSCEVable(pointer->getType()) &&
           in_series(evolution.getSCEV(pointer), inner, evolution).start == nullptr;
  });
}

bool is_fit_loop(Loop& loop, ScalarEvolution& evolution, function_ref<bool(const Instruction&)> is_fit) {
  if (loop.getLoopPreheader() == nullptr || loop.getLoopLatch() == nullptr || !loop.hasDedicatedExits() ||
      loop.getNumBlocks() > runtime::kMostBlocks)
    return false;
  bool has_access = false;
  for (BasicBlock* block : loop.blocks())
    for (Instruction& instruction : *block) {
      if (!is_fit(instruction)) return false;
      has_access |= isa<LoadInst>(instruction) || isa<StoreInst>(instruction);
    }
  for (Loop* inner : loop.getSubLoops())
    if (!is_fit_loop(*inner, evolution, is_fit) || !is_better_told_within(*inner, evolution)) return false;
  SmallVector<BasicBlock*> exits;
  loop.getExitBlocks(exits);
  return has_access && !exits.empty();
}

}  // namespace

std::vector<SeriesLoop> find_series_loops(Function& function, FunctionAnalysisManager& analyses,
                                          function_ref<bool(const Instruction&)> is_fit) {
  std::vector<SeriesLoop> found;
  LoopInfo& loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty()) return found;
  ScalarEvolution& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SCEVExpander expander(evolution, function.getParent()->getDataLayout(), "heddle");
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!is_fit_loop(*loop, evolution, is_fit)) continue;
    SeriesLoop& series = found.emplace_back();
    series.preheader = loop->getLoopPreheader();
    for (const Loop* one : loop->getLoopsInPreorder()) series.latches.push_back(one->getLoopLatch());
    LoopBlocksRPO order(loop);
    order.perform(&loops);
    series.blocks.append(order.begin(), order.end());
    loop->getUniqueExitBlocks(series.exits);
    SeriesAddresses addresses(series, *loop, loops, evolution, expander);
    for (BasicBlock* block : series.blocks)
      for (Instruction& instruction : *block)
        if (auto* pointer = getLoadStorePointerOperand(&instruction))
          addresses.add(const_cast<Value*>(pointer), block);
  }
  return found;
}

}  // namespace heddle
