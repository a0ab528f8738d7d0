#include "pass/flow_function.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "pass/flow_functions.h"
#include "pass/series_writer.h"

namespace heddle {

using namespace llvm;

// For the law that both say the same.
static cl::opt<bool> tells_series("heddle-series", cl::init(true),
                                  cl::desc("tell loops without calls as series of rounds"));

bool calls_named(const Instruction& instruction, StringRef beginning) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  const Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
  return callee != nullptr && callee->getName().starts_with(beginning);
}

// Unoptimized code keeps all in memory; that would be many accesses, and none of them matters.
void FunctionFlow::promote() {
  SmallVector<AllocaInst*> variables;
  for (Instruction& instruction : function_.getEntryBlock())
    if (auto* variable = dyn_cast<AllocaInst>(&instruction);
        variable != nullptr && isAllocaPromotable(variable))
      variables.push_back(variable);
  if (variables.empty()) return;
  DominatorTree dominators(function_);
  PromoteMemToReg(variables, dominators);
}

// What MaybePass left.
void FunctionFlow::take_marks() {
  SmallVector<Instruction*> marks;
  for (Instruction& instruction : instructions(function_))
    if (calls_named(instruction, "heddle.")) marks.push_back(&instruction);
  for (Instruction* mark : marks) {
    if (calls_named(*mark, "heddle.out.")) {
      auto* const call = cast<CallBase>(mark);
      auto* const same = new FreezeInst(call->getArgOperand(0), "", mark->getIterator());
      same->setDebugLoc(mark->getDebugLoc());
      before_[same] = call->getArgOperand(1);
      mark->replaceAllUsesWith(same);
    }
    mark->eraseFromParent();
  }
}

// So that every loop has one place before it and one where it goes round.
void FunctionFlow::simplify_loops() {
  DominatorTree dominators(function_);
  LoopInfo loops(dominators);
  for (Loop* loop : loops) simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, false);
}

bool FunctionFlow::is_followed(const Value* address) const {
  if (address->getType()->getPointerAddressSpace() != 0) return false;
  const auto* global = dyn_cast<GlobalVariable>(getUnderlyingObject(address));
  if (global == nullptr) return true;
  // Whether the thread's own variables are initialized: no value of the program's.
  if (global->isThreadLocal() && global->getName() == "__tls_guard") return false;
  return !global->isConstant() && !global->getName().starts_with("__llvm") &&
         !global->getName().starts_with("heddle_");
}

bool FunctionFlow::is_labelled_source(const Instruction& instruction) const {
  if (before_.contains(&instruction)) return true;
  if (const auto* load = dyn_cast<LoadInst>(&instruction))
    return is_followed(load->getPointerOperand()) && !load->hasMetadata(LLVMContext::MD_nosanitize);
  if (const auto* call = dyn_cast<CallBase>(&instruction))
    return calls_named(instruction, "heddle_end_condition") || flow_of_call(*call) == FlowOfCall::kUnknown;
  return isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction);
}

// Most values, such as the counters of loops, can be told to have no label at all.
void FunctionFlow::find_labelled() {
  SmallVector<const Value*> left;
  const auto reach = [&](const Value* value) {
    if (!value->getType()->isVoidTy() && labelled_.insert(value).second) left.push_back(value);
  };
  for (const Argument& argument : function_.args())
    if (argument.getArgNo() < runtime::kMostArguments) reach(&argument);
  for (const Instruction& instruction : instructions(function_))
    if (is_labelled_source(instruction)) reach(&instruction);
  while (!left.empty())
    for (const User* user : left.pop_back_val()->users()) {
      const auto* instruction = dyn_cast<Instruction>(user);
      if (instruction == nullptr || isa<AllocaInst>(instruction) || isa<LandingPadInst>(instruction))
        continue;
      if (const auto* load = dyn_cast<LoadInst>(instruction);
          load != nullptr && is_followed(load->getPointerOperand()))
        continue;
      if (const auto* call = dyn_cast<CallBase>(instruction); call != nullptr &&
                                                              flow_of_call(*call) == FlowOfCall::kConstant &&
                                                              !calls_named(*call, "heddle_end_condition"))
        continue;
      reach(instruction);
    }
}

Labels FunctionFlow::labels_of(Value* value) const {
  const auto found = labels_.find(value);
  return found == labels_.end() ? Labels() : found->second;
}

Value* FunctionFlow::joined(IRBuilder<>& builder, Labels labels) {
  while (labels.size() > 1) {
    Labels part(labels.begin(),
                labels.begin() + static_cast<std::ptrdiff_t>(std::min(labels.size(), kMostLabels)));
    labels.erase(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(part.size()));
    part.resize(kMostLabels, none());
    labels.insert(labels.begin(), call(builder, "heddle_flow_join", number_, part));
  }
  return labels.empty() ? none() : labels[0];
}

Instruction* FunctionFlow::behind(Instruction& instruction) {
  if (const auto made = made_for_.find(&instruction); made != made_for_.end())
    return made->second->getNextNode();
  if (isa<PHINode>(instruction)) return &*instruction.getParent()->getFirstInsertionPt();
  if (auto* invoke = dyn_cast<InvokeInst>(&instruction)) {
    BasicBlock* block = invoke->getNormalDest();
    if (block->getSinglePredecessor() == nullptr) block = SplitEdge(invoke->getParent(), block);
    return &*block->getFirstInsertionPt();
  }
  return instruction.getNextNode();
}

Value* FunctionFlow::label_of(Value* value) {
  Labels labels = labels_of(value);
  if (labels.empty()) return none();
  if (labels.size() == 1) return labels[0];
  IRBuilder<> builder(behind(*cast<Instruction>(value)));
  builder.SetCurrentDebugLocation((*cast<Instruction>(value)).getDebugLoc());
  Value* const label = joined(builder, labels);
  set(value, label);
  return label;
}

// As good as a branch on the one label of all.
void FunctionFlow::branch_on(IRBuilder<>& builder, const Labels& labels) {
  for (Value* label : labels)
    if (branched_.insert(label).second) tell(builder, "heddle_flow_branch", {label});
}

std::array<Value*, 4> FunctionFlow::four(IRBuilder<>& builder, const Labels& labels) {
  std::array<Value*, 4> result = {none(), none(), none(), none()};
  if (labels.size() > result.size()) {
    result[0] = joined(builder, labels);
  } else {
    std::copy(labels.begin(), labels.end(), result.begin());
  }
  return result;
}

void FunctionFlow::visit(Instruction& instruction) {
  if (auto* phi = dyn_cast<PHINode>(&instruction)) {
    if (!labelled_.contains(phi)) return;
    PHINode* const label = PHINode::Create(number_, phi->getNumIncomingValues(), "", phi->getIterator());
    phis_.emplace_back(phi, label);
    return set(phi, label);
  }
  if (instruction.isAtomic()) return visit_atomic(instruction);
  if (auto* load = dyn_cast<LoadInst>(&instruction)) return visit_load(*load);
  if (auto* store = dyn_cast<StoreInst>(&instruction)) return visit_store(*store);
  if (auto* operation = dyn_cast<MemIntrinsic>(&instruction)) return visit_block_operation(*operation);
  if (auto* made = dyn_cast<CallBase>(&instruction)) return visit_call(*made);
  if (auto* landing = dyn_cast<LandingPadInst>(&instruction)) return visit_landing(*landing);
  if (auto* leaving = dyn_cast<ReturnInst>(&instruction)) return visit_return(*leaving);
  if (auto* select = dyn_cast<SelectInst>(&instruction)) return visit_select(*select);
  if (const auto out = before_.find(&instruction); out != before_.end()) {
    Value* const value = instruction.getOperand(0);
    Value* const label = label_of(value);
    Value* const before = label_of(out->second);
    IRBuilder<> builder(behind(instruction));
    builder.SetCurrentDebugLocation(instruction.getDebugLoc());
    Type* const type = value->getType();
    Value* now = value;
    Value* then = out->second;
    if (type->isFloatingPointTy()) {
      auto* const bits = builder.getIntNTy(static_cast<unsigned>(type->getPrimitiveSizeInBits()));
      now = builder.CreateBitCast(now, bits);
      then = builder.CreateBitCast(then, bits);
    }
    Value* const is_same = builder.CreateZExt(builder.CreateICmpEQ(now, then), number_);
    return set(&instruction, call(builder, "heddle_flow_out", number_, {is_same, label, before}));
  }
  IRBuilder<> builder(&instruction);
  if (instruction.isTerminator()) {
    if (const auto* branch = dyn_cast<BranchInst>(&instruction)) {
      if (branch->isConditional()) branch_on(builder, labels_of(branch->getCondition()));
    } else if (isa<SwitchInst>(instruction) || isa<IndirectBrInst>(instruction)) {
      branch_on(builder, labels_of(instruction.getOperand(0)));
    }
    return;
  }
  switch (instruction.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::SRem:
    case Instruction::UDiv:
    case Instruction::URem:
      // It may trap.
      if (!isa<Constant>(instruction.getOperand(1))) {
        branch_on(builder, labels_of(instruction.getOperand(1)));
        if (instruction.getOpcode() == Instruction::SDiv || instruction.getOpcode() == Instruction::SRem)
          branch_on(builder, labels_of(instruction.getOperand(0)));
      }
      break;
    case Instruction::Alloca: return;
    default: break;
  }
  if (!labelled_.contains(&instruction)) return;
  Labels all;
  for (Value* operand : instruction.operands()) add(all, labels_of(operand));
  labels_[&instruction] = all;
  if (all.size() > kMostLabels) label_of(&instruction);
}

void FunctionFlow::visit_select(SelectInst& select) {
  if (!labelled_.contains(&select)) return;
  Labels all = labels_of(select.getCondition());
  const Labels yes = labels_of(select.getTrueValue());
  const Labels no = labels_of(select.getFalseValue());
  if (yes == no || !select.getCondition()->getType()->isIntegerTy(1)) {
    add(all, yes);
    add(all, no);
  } else {
    Value* const of_yes = label_of(select.getTrueValue());
    Value* const of_no = label_of(select.getFalseValue());
    IRBuilder<> builder(behind(select));
    builder.SetCurrentDebugLocation(select.getDebugLoc());
    Value* const chosen = builder.CreateSelect(select.getCondition(), of_yes, of_no);
    if (auto* made = dyn_cast<Instruction>(chosen); made != nullptr && made != of_yes && made != of_no)
      made_for_[&select] = made;
    if (!isa<Constant>(chosen)) add(all, {chosen});
  }
  labels_[&select] = all;
  if (all.size() > kMostLabels) label_of(&select);
}

void FunctionFlow::fill_phis() {
  for (const auto& [phi, label] : phis_)
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      label->addIncoming(label_of(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
}

// Nobody is called, nothing ends a stretch, and what may be left out neither begins nor ends.
bool FunctionFlow::is_fit_for_series(const Instruction& instruction) const {
  if (instruction.isAtomic() || instruction.isVolatile() || instruction.isEHPad() ||
      isa<AllocaInst>(instruction) || before_.contains(&instruction))
    return false;
  if (instruction.isTerminator()) return isa<BranchInst>(instruction) || isa<SwitchInst>(instruction);
  if (getLoadStorePointerOperand(&instruction) != nullptr) {
    const TypeSize size =
        of_.layout.getTypeStoreSize(getLoadStoreType(const_cast<Instruction*>(&instruction)));
    return !size.isScalable() && !size.isZero() && size <= 64;
  }
  if (const auto* made = dyn_cast<CallBase>(&instruction)) {
    if (made->isInlineAsm() || isa<MemIntrinsic>(made) || calls_named(instruction, "heddle")) return false;
    if (isa<IntrinsicInst>(made))
      return !made->mayReadFromMemory() || isa<AssumeInst>(made) || made->getType()->isVoidTy();
    return flow_of_call(*made) == FlowOfCall::kComputes && made->doesNotThrow();
  }
  return true;
}

bool FunctionFlow::tell_series(SeriesLoop& loop) {
  SeriesWriter writer(*this, loop);
  if (!writer.understand()) return false;
  writer.write(counters_);
  series_headers_.insert(loop.blocks.begin(), loop.blocks.end());  // of inner loops, too
  return of_.has_series = true;
}

void FunctionFlow::run(FunctionAnalysisManager& analyses) {
  promote();
  take_marks();
  simplify_loops();
  find_labelled();
  analyses.invalidate(function_, PreservedAnalyses::none());
  std::vector<SeriesLoop> loops;
  if (tells_series)
    loops = find_series_loops(function_, analyses,
                              [&](const Instruction& instruction) { return is_fit_for_series(instruction); });
  SmallVector<BasicBlock*> blocks;
  for (BasicBlock* block : ReversePostOrderTraversal<Function*>(&function_)) blocks.push_back(block);
  SmallVector<SmallVector<Instruction*>> all;
  for (BasicBlock* block : blocks) {
    all.emplace_back();
    for (Instruction& instruction : *block) all.back().push_back(&instruction);
  }
  at_entry();
  DenseSet<const BasicBlock*> told;  // in series
  for (const auto& block : all) {
    const BasicBlock* const here = block.front()->getParent();
    for (SeriesLoop& loop : loops)
      if (loop.blocks[0] == here && !told.contains(here) && tell_series(loop))
        told.insert(loop.blocks.begin(), loop.blocks.end());
    if (told.contains(here)) continue;
    branched_.clear();
    for (Instruction* instruction : block) visit(*instruction);
  }
  fill_phis();
  use_labels_again();
  if (!counters_.empty()) {
    DominatorTree dominators(function_);
    PromoteMemToReg(counters_, dominators);
  }
  // It tells what it does.
  function_.removeFnAttr(Attribute::Memory);
  function_.removeFnAttr(Attribute::NoSync);
  function_.removeFnAttr(Attribute::Speculatable);
  analyses.invalidate(function_, PreservedAnalyses::none());
}

}  // namespace heddle
