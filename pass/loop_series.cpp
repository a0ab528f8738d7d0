#include "pass/loop_series.h"

#include <memory>
#include <set>
#include <tuple>

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "pass/focus_pass.h"
#include "pass/source_place.h"

namespace heddle {

using namespace llvm;

namespace {

// A division may trap, so none is made ahead of the program's own; but where that has been made already, as
// for a thread's share of the work, its result is at hand.
class WithQuotients : public SCEVRewriteVisitor<WithQuotients> {
 public:
  using Quotients = DenseMap<const SCEV*, SmallVector<Instruction*, 1>>;

  static Quotients quotients_of(Function& function, ScalarEvolution& evolution) {
    Quotients found;
    for (Instruction& instruction : instructions(function))
      if (instruction.getOpcode() == Instruction::UDiv && evolution.isSCEVable(instruction.getType()))
        found[evolution.getSCEV(&instruction)].push_back(&instruction);
    return found;
  }

  WithQuotients(ScalarEvolution& evolution, const Quotients& quotients, const DominatorTree& dominators,
                const Instruction* at)
      : SCEVRewriteVisitor(evolution), quotients_(quotients), dominators_(dominators), at_(at) {}

  const SCEV* visitUDivExpr(const SCEVUDivExpr* division) {
    if (const auto found = quotients_.find(division); found != quotients_.end())
      for (Instruction* quotient : found->second)
        if (dominators_.dominates(quotient, at_)) return SE.getUnknown(quotient);
    return SCEVRewriteVisitor::visitUDivExpr(division);
  }

 private:
  const Quotients& quotients_;
  const DominatorTree& dominators_;
  const Instruction* at_;
};

// In focused builds: what a loop loads again only because it writes bytes, which to the compiler may be a
// part of anything. Bytes that are elements of a container are no part of a pointer, so it is the same in
// every round, and what was loaded before the loop stands for it (docs/design/types.md).
class WithPointers : public SCEVRewriteVisitor<WithPointers> {
 public:
  WithPointers(ScalarEvolution& evolution, AAResults& aliases, Loop& loop)
      : SCEVRewriteVisitor(evolution), aliases_(aliases), loop_(loop) {
    for (BasicBlock* block : loop.blocks())
      for (Instruction& instruction : *block)
        if (instruction.mayWriteToMemory() && !writes_byte_elements(instruction))
          writers_.push_back(&instruction);
  }

  const SCEV* visitUnknown(const SCEVUnknown* value) {
    auto* const load = dyn_cast<LoadInst>(value->getValue());
    if (load == nullptr || !loop_.contains(load)) return value;
    LoadInst* const before = before_loop(*load);
    return before == nullptr ? value : SE.getUnknown(before);
  }

 private:
  LoadInst* before_loop(LoadInst& load) {
    Value* const place = load.getPointerOperand();
    if (!load.getType()->isPointerTy() || !load.isSimple() || !loop_.isLoopInvariant(place)) return nullptr;
    const auto [entry, is_new] = loaded_.try_emplace(place, nullptr);
    if (!is_new) return entry->second;
    const MemoryLocation memory = MemoryLocation::get(&load);
    if (any_of(writers_,
               [&](Instruction* writer) { return isModSet(aliases_.getModRefInfo(writer, memory)); }))
      return nullptr;
    auto* const before = new LoadInst(load.getType(), place, "heddle", /*isVolatile=*/false, load.getAlign(),
                                      loop_.getLoopPreheader()->getTerminator()->getIterator());
    before->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(load.getContext(), {}));
    return loaded_[place] = before;
  }

  AAResults& aliases_;
  Loop& loop_;
  SmallVector<Instruction*> writers_;
  DenseMap<Value*, LoadInst*> loaded_;  // by the address; null: it may change
};

// What a loop hands on from one round to the next, as the optimizer leaves it of `column + 1` in a loop that
// asks whether that is the end: in each round but the first it is what a number that grows evenly was one
// round before.
PHINode* handed_on(Value* value, const Loop& loop) {
  auto* const phi = dyn_cast<PHINode>(value);
  return phi != nullptr && phi->getParent() == loop.getHeader() && phi->getNumIncomingValues() == 2 ? phi
                                                                                                    : nullptr;
}
// The same expression for all rounds but the first.
class InLaterRounds : public SCEVRewriteVisitor<InLaterRounds> {
 public:
  InLaterRounds(ScalarEvolution& evolution, const Loop& loop) : SCEVRewriteVisitor(evolution), loop_(loop) {}

  const SCEV* visitUnknown(const SCEVUnknown* value) {
    const PHINode* const phi = handed_on(value->getValue(), loop_);
    if (phi == nullptr) return value;
    const auto* next =
        dyn_cast<SCEVAddRecExpr>(SE.getSCEV(phi->getIncomingValueForBlock(loop_.getLoopLatch())));
    if (next == nullptr || next->getLoop() != &loop_ || !next->isAffine()) return value;
    return SE.getMinusSCEV(next, next->getStepRecurrence(SE));
  }

 private:
  const Loop& loop_;
};
// The same for the first round.
class InFirstRound : public SCEVRewriteVisitor<InFirstRound> {
 public:
  InFirstRound(ScalarEvolution& evolution, const Loop& loop) : SCEVRewriteVisitor(evolution), loop_(loop) {}

  const SCEV* visitUnknown(const SCEVUnknown* value) {
    const PHINode* const phi = handed_on(value->getValue(), loop_);
    return phi == nullptr ? value : SE.getSCEV(phi->getIncomingValueForBlock(loop_.getLoopPreheader()));
  }
  const SCEV* visitAddRecExpr(const SCEVAddRecExpr* series) {
    return series->getLoop() == &loop_ ? series->getStart() : series;
  }

 private:
  const Loop& loop_;
};

enum class Rounds : uint8_t { kAll, kFirst, kLater };

struct LoopAccess {
  Loop* loop;
  const SCEV* start;
  int64_t step;
  Access access;
  Rounds rounds;  // in which it is what this says
};

// Makes one of those that lie side by side, as unrolling leaves them.
void merge(SmallVectorImpl<LoopAccess>& all, ScalarEvolution& evolution) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < all.size() && !changed; ++i)
      for (std::size_t j = 0; j < all.size() && !changed; ++j) {
        LoopAccess& first = all[i];
        const LoopAccess& second = all[j];
        if (i == j || first.loop != second.loop || first.step != second.step ||
            first.rounds != second.rounds || first.access.writes != second.access.writes ||
            first.access.address->getType() != second.access.address->getType())
          continue;
        const auto* distance = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(second.start, first.start));
        if (distance == nullptr || distance->getAPInt() != first.access.size) continue;
        first.access.size += second.access.size;
        if (first.access.name.empty()) first.access.name = second.access.name;
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(j));
        changed = true;
      }
  }
}

// Whether nothing in the loop lets the thread learn from others, or not come past it.
bool is_one_stretch(const Loop& loop) {
  return all_of(loop.blocks(), [](const BasicBlock* block) {
    return none_of(*block, [](const Instruction& instruction) { return ends_stretch(instruction); });
  });
}

// Whether whoever comes into the loop comes to the block, before leaving it.
bool is_always_visited(const BasicBlock& block, const Loop& loop, const DominatorTree& dominators) {
  SmallVector<BasicBlock*> last;
  loop.getExitingBlocks(last);
  return !last.empty() &&
         all_of(last, [&](const BasicBlock* leaving) { return dominators.dominates(&block, leaving); });
}

}  // namespace

void take_out_of_loops(Function& function, FunctionAnalysisManager& analyses,
                       SmallVectorImpl<Access>& accesses) {
  LoopInfo& loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty()) return;
  const DominatorTree& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  DenseMap<const Loop*, bool> known;
  const auto is_fit = [&](const Loop& loop) {
    const auto [entry, is_new] = known.try_emplace(&loop, false);
    if (is_new) entry->second = loop.getLoopPreheader() != nullptr && is_one_stretch(loop);
    return entry->second;
  };
  for (Access& access : accesses) {
    if (access.instruction->isVolatile()) continue;  // each counts, and is told by a full recording
    const BasicBlock* block = access.instruction->getParent();
    for (const Loop* loop = loops.getLoopFor(block); loop != nullptr; loop = loop->getParentLoop()) {
      if (!is_fit(*loop) || !loop->isLoopInvariant(access.address) ||
          !is_always_visited(*block, *loop, dominators))
        break;
      block = loop->getLoopPreheader();
      access.before = loop->getLoopPreheader()->getTerminator();
    }
  }
  // Once is enough.
  std::set<std::tuple<const Instruction*, const Value*, int64_t, uint64_t, bool>> seen;
  erase_if(accesses, [&](const Access& access) {
    return access.before != nullptr &&
           !seen.insert({access.before, access.address, access.offset - access.address_offset, access.size,
                         access.writes})
                .second;
  });
}

void take_series(Function& function, FunctionAnalysisManager& analyses, SmallVectorImpl<Access>& accesses,
                 function_ref<void(const Series&)> check) {
  LoopInfo& loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty()) return;
  ScalarEvolution& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  DominatorTree& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  SCEVExpander expander(evolution, function.getParent()->getDataLayout(), "heddle");
  const WithQuotients::Quotients quotients = WithQuotients::quotients_of(function, evolution);
  // The same expression such that it can be computed before the loop; null: it cannot.
  const auto before_loop = [&](const SCEV* expression, const Loop* loop) -> const SCEV* {
    const Instruction* const at = loop->getLoopPreheader()->getTerminator();
    if (!quotients.empty())
      expression = WithQuotients(evolution, quotients, dominators, at).visit(expression);
    return expander.isSafeToExpandAt(expression, at) ? expression : nullptr;
  };
  DenseMap<Loop*, const SCEV*> rounds;  // how often the loop comes round again; null: it is not fit
  const auto rounds_of = [&](Loop* loop) -> const SCEV* {
    const auto [entry, is_new] = rounds.try_emplace(loop, nullptr);
    if (!is_new) return entry->second;
    BasicBlock* latch = loop->getLoopLatch();
    if (loop->getLoopPreheader() == nullptr || latch == nullptr || loop->getExitingBlock() != latch)
      return nullptr;
    if (!is_one_stretch(*loop)) return nullptr;
    const SCEV* count = evolution.getBackedgeTakenCount(loop);
    if (isa<SCEVCouldNotCompute>(count)) return nullptr;
    return rounds[loop] = before_loop(count, loop);
  };
  DenseMap<Loop*, std::unique_ptr<WithPointers>> pointers;
  const auto with_pointers = [&](const SCEV* address, Loop* loop) {
    if (!is_focusing()) return address;
    std::unique_ptr<WithPointers>& of_loop = pointers[loop];
    if (of_loop == nullptr)
      of_loop = std::make_unique<WithPointers>(evolution, analyses.getResult<AAManager>(function), *loop);
    return of_loop->visit(address);
  };
  SmallVector<LoopAccess> found;
  erase_if(accesses, [&](const Access& access) {
    Loop* loop = loops.getLoopFor(access.instruction->getParent());
    if (loop == nullptr || access.before != nullptr) return false;
    const SCEV* count = rounds_of(loop);
    if (count == nullptr || !dominators.dominates(access.instruction->getParent(), loop->getLoopLatch()))
      return false;
    const SCEV* const offset = evolution.getConstant(Type::getInt64Ty(function.getContext()),
                                                     static_cast<uint64_t>(access.offset), true);
    const SCEV* const place = with_pointers(evolution.getAddExpr(access.base, offset), loop);
    const bool is_even = isa<SCEVAddRecExpr>(place);
    const auto* address =
        dyn_cast<SCEVAddRecExpr>(is_even ? place : InLaterRounds(evolution, *loop).visit(place));
    if (address == nullptr || address->getLoop() != loop || !address->isAffine()) return false;
    const auto* step = dyn_cast<SCEVConstant>(address->getStepRecurrence(evolution));
    if (step == nullptr || step->getAPInt().getSignificantBits() > 32) return false;
    const int64_t distance = step->getAPInt().getSExtValue();
    const SCEV* const start =
        before_loop(is_even ? address->getStart() : evolution.getAddExpr(address->getStart(), step), loop);
    if (start == nullptr) return false;
    if (!is_even) {
      const SCEV* const first = InFirstRound(evolution, *loop).visit(place);
      const SCEV* const at_first =
          evolution.isLoopInvariant(first, loop) ? before_loop(first, loop) : nullptr;
      if (at_first == nullptr) return false;
      found.push_back({loop, at_first, distance, access, Rounds::kFirst});
    }
    found.push_back({loop, start, distance, access, is_even ? Rounds::kAll : Rounds::kLater});
    return true;
  });
  merge(found, evolution);
  for (const LoopAccess& one : found) {
    Instruction* before = one.loop->getLoopPreheader()->getTerminator();
    IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(source_place(*one.access.instruction));
    Value* start = expander.expandCodeFor(one.start, one.access.address->getType(), before);
    Value* times = builder.getInt64(1);
    if (one.rounds != Rounds::kFirst) {
      const SCEV* again = rounds[one.loop];
      Value* const more = builder.CreateZExtOrTrunc(expander.expandCodeFor(again, again->getType(), before),
                                                    builder.getInt64Ty());
      times = one.rounds == Rounds::kLater ? more : builder.CreateAdd(more, times);
    }
    check({one.access, before, start, times, one.step});
  }
}

}  // namespace heddle
