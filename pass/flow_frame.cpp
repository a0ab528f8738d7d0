// What a function does with labels where it begins and where its loops go round.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "pass/flow_function.h"

namespace heddle {

using namespace llvm;

// Whether others may get to know where the variable lies.
static bool may_escape(const AllocaInst& variable) {
  SmallVector<const Value*> left = {&variable};
  SmallPtrSet<const Value*, 16> seen;
  while (!left.empty())
    for (const User* user : left.pop_back_val()->users()) {
      if (isa<LoadInst>(user) || isa<ICmpInst>(user) || isa<IntrinsicInst>(user)) continue;
      if (const auto* store = dyn_cast<StoreInst>(user); store != nullptr &&
                                                         !seen.contains(store->getValueOperand()) &&
                                                         store->getValueOperand() != &variable)
        continue;
      if (!isa<GetElementPtrInst>(user) && !isa<PHINode>(user) && !isa<SelectInst>(user)) return true;
      if (seen.insert(user).second) left.push_back(user);
    }
  return false;
}

// What a pointer into one reaches (runtime/objects.h).
void FunctionFlow::show_locals(IRBuilder<>& builder) {
  SmallVector<AllocaInst*> locals;
  for (Instruction& instruction : function_.getEntryBlock())
    if (auto* variable = dyn_cast<AllocaInst>(&instruction);
        variable != nullptr && variable->isStaticAlloca() && may_escape(*variable))
      locals.push_back(variable);
  if (locals.empty()) return;
  for (AllocaInst* variable : locals) variable->moveBefore(&function_.getEntryBlock().front());
  auto* const type = ArrayType::get(of_.object_type, locals.size());
  AllocaInst* const list = builder.CreateAlloca(type);
  for (unsigned i = 0; i < locals.size(); ++i) {
    Value* const place = builder.CreateConstGEP2_32(type, list, 0, i);
    builder.CreateStore(locals[i], builder.CreateStructGEP(of_.object_type, place, 0));
    builder.CreateStore(builder.getInt64(locals[i]->getAllocationSize(of_.layout)->getFixedValue()),
                        builder.CreateStructGEP(of_.object_type, place, 1));
  }
  tell(builder, "heddle_flow_locals", {top_, list, builder.getInt64(locals.size())});
}

void FunctionFlow::at_entry() {
  IRBuilder<> builder(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  builder.SetCurrentDebugLocation(DebugLoc());
  mark_ = builder.CreateLoad(number_, field(builder, kNext));
  top_ = builder.CreateIntrinsic(Intrinsic::addressofreturnaddress, {builder.getPtrTy()}, {});
  Value* const callee = field(builder, kCallee);
  is_called_by_us_ = builder.CreateICmpEQ(builder.CreateLoad(builder.getPtrTy(), callee), &function_);
  builder.CreateStore(ConstantPointerNull::get(builder.getPtrTy()), callee);
  show_locals(builder);
  // Who calls without labels may give what he has seen himself.
  Value* const otherwise = builder.CreateLoad(number_, field(builder, kOutside));
  for (Argument& argument : function_.args()) {
    if (argument.getArgNo() >= runtime::kMostArguments || argument.use_empty()) continue;
    Value* const given = builder.CreateLoad(number_, argument_place(builder, argument.getArgNo()));
    Value* const label = builder.CreateSelect(is_called_by_us_, given, otherwise);
    if (argument.hasByValAttr()) {
      // A copy that the caller has made.
      const uint64_t size = of_.layout.getTypeAllocSize(argument.getParamByValType());
      tell(builder, "heddle_flow_fill", {&argument, builder.getInt64(size), of_.texts.get(""), label});
    } else {
      set(&argument, label);
    }
  }
}

// A loop makes new labels in every round; only those of the values that it goes round with live on.
void FunctionFlow::use_labels_again() {
  struct Turn {
    Instruction* before;
    Instruction* latch;
    SmallVector<PHINode*> labels;
  };
  DominatorTree dominators(function_);
  LoopInfo loops(dominators);
  SmallVector<Turn> turns;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    BasicBlock* const latch = loop->getLoopLatch();
    if (loop->getLoopPreheader() == nullptr || latch == nullptr) continue;
    bool makes_labels = false;
    for (BasicBlock* block : loop->blocks())
      for (Instruction& instruction : *block)
        makes_labels |=
            calls_named(instruction, "heddle_flow_") || calls_named(instruction, "heddle_series_");
    if (!makes_labels || series_headers_.contains(loop->getHeader())) continue;
    Turn turn{loop->getLoopPreheader()->getTerminator(), latch->getTerminator(), {}};
    for (const auto& [phi, label] : phis_)
      if (phi->getParent() == loop->getHeader()) turn.labels.push_back(label);
    turns.push_back(std::move(turn));
  }
  for (const Turn& turn : turns) {
    IRBuilder<> before(turn.before);
    Value* const mark = before.CreateLoad(number_, field(before, kNext));
    IRBuilder<> builder(turn.latch);
    Value* const used = builder.CreateSub(builder.CreateLoad(number_, field(builder, kNext)), mark);
    Value* const is_due = builder.CreateICmpUGT(used, builder.getInt32(runtime::kManyLabels));
    Instruction* const then = SplitBlockAndInsertIfThen(
        is_due, turn.latch, false, MDBuilder(function_.getContext()).createUnlikelyBranchWeights());
    BasicBlock* const latch = turn.latch->getParent();
    auto* const array = ArrayType::get(number_, std::max<std::size_t>(turn.labels.size(), 1));
    IRBuilder<> entry(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    AllocaInst* const places = entry.CreateAlloca(array);
    builder.SetInsertPoint(then);
    SmallVector<Value*> old;
    for (unsigned i = 0; i < turn.labels.size(); ++i) {
      old.push_back(turn.labels[i]->getIncomingValueForBlock(latch));
      builder.CreateStore(old[i], builder.CreateConstGEP2_32(array, places, 0, i));
    }
    tell(builder, "heddle_flow_turn",
         {mark, places, builder.getInt32(static_cast<uint32_t>(turn.labels.size()))});
    SmallVector<Value*> kept;
    for (unsigned i = 0; i < turn.labels.size(); ++i)
      kept.push_back(builder.CreateLoad(number_, builder.CreateConstGEP2_32(array, places, 0, i)));
    for (unsigned i = 0; i < turn.labels.size(); ++i) {
      PHINode* const label = PHINode::Create(number_, 2, "", latch->begin());
      for (BasicBlock* from : predecessors(latch))
        label->addIncoming(from == then->getParent() ? kept[i] : old[i], from);
      turn.labels[i]->setIncomingValueForBlock(latch, label);
    }
  }
}

}  // namespace heddle
