#include "pass/flow_pass.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "pass/access_names.h"
#include "pass/atomic_operation.h"
#include "pass/flow_functions.h"
#include "pass/libc_calls.h"
#include "pass/texts.h"
#include "runtime/flow.h"

namespace heddle {

using namespace llvm;

namespace {

cl::opt<bool> follows_data("heddle-dataflow", cl::desc("tell what values depend on"));

// The fields of HeddleFlowState.
enum StateField : unsigned { kNext, kResult, kCallee, kArguments };

// Labels, of which a value depends on each.
using Labels = SmallVector<Value*, 4>;
constexpr std::size_t kMostLabels = 4;  // that are not joined

// What all functions of a module share.
class Shared {
 public:
  explicit Shared(Module& module)
      : module(module), layout(module.getDataLayout()), names(module), texts(module) {
    LLVMContext& context = module.getContext();
    auto* const number = Type::getInt32Ty(context);
    auto* const pointer = PointerType::getUnqual(context);
    state_type =
        StructType::get(context, {number, number, pointer, ArrayType::get(number, runtime::kMostArguments)});
    state = module.getOrInsertGlobal("heddle_flow_state", state_type, [&] {
      return new GlobalVariable(module, state_type, false, GlobalValue::ExternalLinkage, nullptr,
                                "heddle_flow_state", nullptr, GlobalValue::InitialExecTLSModel);
    });
  }

  Module& module;
  const DataLayout& layout;
  AccessNames names;
  Texts texts;
  StructType* state_type;
  Constant* state;
};

class FunctionFlow {
 public:
  FunctionFlow(Shared& of, Function& function)
      : of_(of), function_(function), number_(Type::getInt32Ty(function.getContext())) {}

  void run(FunctionAnalysisManager& analyses);

 private:
  Value* none() { return ConstantInt::get(number_, 0); }
  Value* field(IRBuilder<>& builder, unsigned index) {
    return builder.CreateStructGEP(of_.state_type, builder.CreateThreadLocalAddress(of_.state), index);
  }
  Value* argument_place(IRBuilder<>& builder, unsigned index) {
    return builder.CreateConstGEP2_32(ArrayType::get(number_, runtime::kMostArguments),
                                      field(builder, kArguments), 0, index);
  }
  CallInst* call(IRBuilder<>& builder, StringRef name, Type* result, ArrayRef<Value*> arguments) {
    SmallVector<Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    FunctionCallee callee = of_.module.getOrInsertFunction(name, FunctionType::get(result, types, false));
    if (auto* declared = dyn_cast<Function>(callee.getCallee())) declared->addFnAttr(Attribute::NoUnwind);
    CallInst* const made = builder.CreateCall(callee, arguments);
    made->setDoesNotThrow();
    return made;
  }
  CallInst* tell(IRBuilder<>& builder, StringRef name, ArrayRef<Value*> arguments) {
    return call(builder, name, builder.getVoidTy(), arguments);
  }

  void promote();
  void take_marks();
  void find_labelled();
  bool is_labelled_source(const Instruction& instruction) const;
  void at_entry();
  void visit(Instruction& instruction);
  void visit_load(LoadInst& load);
  void visit_store(StoreInst& store);
  void visit_atomic(Instruction& instruction);
  void visit_block_operation(MemIntrinsic& operation);
  void visit_call(CallBase& call);
  void visit_unknown_call(CallBase& call);
  void visit_libc_call(CallBase& call, FunctionCallee checked);
  void visit_return(ReturnInst& leaving);
  void visit_select(SelectInst& select);
  void fill_phis();
  void use_labels_again();

  bool is_followed(const Value* address) const;
  Labels labels_of(Value* value) const;
  void set(Value* value, Value* label) { labels_[value] = {label}; }
  static void add(Labels& to, const Labels& from) {
    for (Value* label : from)
      if (!is_contained(to, label)) to.push_back(label);
  }
  Value* joined(IRBuilder<>& builder, Labels labels);
  // The one label of a value, made where the value is.
  Value* label_of(Value* value);
  void branch_on(IRBuilder<>& builder, const Labels& labels);
  std::array<Value*, 4> four(IRBuilder<>& builder, const Labels& labels);
  // Where code can stand that needs the value and what was made for it.
  Instruction* behind(Instruction& instruction);
  void ignore(Instruction& instruction) {
    instruction.setMetadata(LLVMContext::MD_nosanitize, MDNode::get(function_.getContext(), {}));
  }
  Constant* name_of(const Instruction& instruction, const Value* address) {
    return of_.texts.get(of_.names.name_of(instruction, address));
  }

  Shared& of_;
  Function& function_;
  IntegerType* number_;
  DenseSet<const Value*> labelled_;                      // values that may have a label other than 0
  DenseMap<const Value*, Labels> labels_;                // of those of them that were visited
  DenseMap<const Value*, Value*> before_;                // what went through heddle.out: the value before
  SmallVector<std::pair<PHINode*, PHINode*>> phis_;      // values, and their labels
  DenseMap<const Instruction*, Instruction*> made_for_;  // the last instruction that makes a value's label
  DenseSet<const Value*> branched_;                      // labels that the present block has branched on
  Value* mark_ = nullptr;
  Value* is_called_by_us_ = nullptr;
};

bool names_function(const Instruction& instruction, StringRef beginning) {
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
    if (names_function(instruction, "heddle.")) marks.push_back(&instruction);
  for (Instruction* mark : marks) {
    if (names_function(*mark, "heddle.out.")) {
      auto* const call = cast<CallBase>(mark);
      auto* const same = new FreezeInst(call->getArgOperand(0), "", mark->getIterator());
      same->setDebugLoc(mark->getDebugLoc());
      before_[same] = call->getArgOperand(1);
      mark->replaceAllUsesWith(same);
    }
    mark->eraseFromParent();
  }
}

bool FunctionFlow::is_followed(const Value* address) const {
  if (address->getType()->getPointerAddressSpace() != 0) return false;
  const auto* global = dyn_cast<GlobalVariable>(getUnderlyingObject(address));
  if (global == nullptr) return true;
  return !global->isConstant() && !global->getName().starts_with("__llvm") &&
         !global->getName().starts_with("heddle_");
}

bool FunctionFlow::is_labelled_source(const Instruction& instruction) const {
  if (before_.contains(&instruction)) return true;
  if (const auto* load = dyn_cast<LoadInst>(&instruction))
    return is_followed(load->getPointerOperand()) && !load->hasMetadata(LLVMContext::MD_nosanitize);
  if (const auto* call = dyn_cast<CallBase>(&instruction))
    return names_function(instruction, "heddle_end_condition") || flow_of_call(*call) == FlowOfCall::kUnknown;
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
                                                              !names_function(*call, "heddle_end_condition"))
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

void FunctionFlow::at_entry() {
  IRBuilder<> builder(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  builder.SetCurrentDebugLocation(DebugLoc());
  mark_ = builder.CreateLoad(number_, field(builder, kNext));
  Value* const callee = field(builder, kCallee);
  is_called_by_us_ = builder.CreateICmpEQ(builder.CreateLoad(builder.getPtrTy(), callee), &function_);
  builder.CreateStore(ConstantPointerNull::get(builder.getPtrTy()), callee);
  for (Argument& argument : function_.args()) {
    if (argument.getArgNo() >= runtime::kMostArguments || argument.use_empty()) continue;
    Value* const given = builder.CreateLoad(number_, argument_place(builder, argument.getArgNo()));
    Value* const label = builder.CreateSelect(is_called_by_us_, given, none());
    if (argument.hasByValAttr()) {
      // A copy that the caller has made.
      const uint64_t size = of_.layout.getTypeAllocSize(argument.getParamByValType());
      tell(builder, "heddle_flow_fill", {&argument, builder.getInt64(size), of_.texts.get(""), label});
    } else {
      set(&argument, label);
    }
  }
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
    case Instruction::Alloca:
    case Instruction::LandingPad: return;
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

void FunctionFlow::visit_load(LoadInst& load) {
  const TypeSize size = of_.layout.getTypeStoreSize(load.getType());
  Value* const address = load.getPointerOperand();
  if (load.hasMetadata(LLVMContext::MD_nosanitize) || size.isScalable() || size.isZero()) return;
  if (!is_followed(address)) {
    // A constant, which one depends on the address.
    if (Labels all = labels_of(address); !all.empty()) labels_[&load] = all;
    return;
  }
  IRBuilder<> builder(&load);
  branch_on(builder, labels_of(address));
  set(&load,
      call(builder, size <= 255 ? "heddle_flow_read" : "heddle_flow_read_range", number_,
           {address,
            size <= 255 ? builder.getInt32(static_cast<uint32_t>(size)) : cast<Value>(builder.getInt64(size)),
            name_of(load, address)}));
  ignore(load);
}

void FunctionFlow::visit_store(StoreInst& store) {
  Value* const address = store.getPointerOperand();
  const TypeSize size = of_.layout.getTypeStoreSize(store.getValueOperand()->getType());
  if (store.hasMetadata(LLVMContext::MD_nosanitize) || size.isScalable() || size.isZero() ||
      !is_followed(address))
    return;
  Value* const label = label_of(store.getValueOperand());
  IRBuilder<> builder(&store);
  branch_on(builder, labels_of(address));
  if (size <= 255) {
    tell(builder, "heddle_flow_write",
         {address, builder.getInt32(static_cast<uint32_t>(size)), name_of(store, address), label});
  } else {
    tell(builder, "heddle_flow_fill", {address, builder.getInt64(size), name_of(store, address), label});
  }
  ignore(store);
}

void FunctionFlow::visit_block_operation(MemIntrinsic& operation) {
  IRBuilder<> builder(&operation);
  branch_on(builder, labels_of(operation.getLength()));
  branch_on(builder, labels_of(operation.getDest()));
  Value* const length = builder.CreateZExtOrTrunc(operation.getLength(), builder.getInt64Ty());
  if (auto* transfer = dyn_cast<MemTransferInst>(&operation)) {
    branch_on(builder, labels_of(transfer->getSource()));
    if (is_followed(transfer->getSource())) {
      tell(builder, "heddle_flow_copy",
           {operation.getDest(), transfer->getSource(), length, name_of(operation, operation.getDest()),
            name_of(operation, transfer->getSource())});
    } else {
      tell(builder, "heddle_flow_fill",
           {operation.getDest(), length, name_of(operation, operation.getDest()), none()});
    }
  } else {
    Value* const label = label_of(cast<MemSetInst>(operation).getValue());
    tell(builder, "heddle_flow_fill",
         {operation.getDest(), length, name_of(operation, operation.getDest()), label});
  }
  ignore(operation);
}

void FunctionFlow::visit_atomic(Instruction& instruction) {
  const std::optional<AtomicOperation> operation = atomic_operation(instruction);
  if (!operation) return;  // a fence
  IRBuilder<> builder(&instruction);
  branch_on(builder, labels_of(operation->address));
  Value* written = none();
  Labels compared;
  if (auto* store = dyn_cast<StoreInst>(&instruction)) written = label_of(store->getValueOperand());
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) written = label_of(update->getValOperand());
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    written = label_of(exchange->getNewValOperand());
    compared = labels_of(exchange->getCompareOperand());
  }
  tell(builder, "heddle_begin_atomic", {operation->address});
  builder.SetInsertPoint(instruction.getNextNode());
  builder.SetCurrentDebugLocation(instruction.getDebugLoc());
  const AtomicOperation::Outcome outcome = operation->outcome(builder);
  Value* const label =
      call(builder, "heddle_flow_end_atomic", number_,
           {operation->address, builder.getInt64(of_.layout.getTypeStoreSize(operation->type)), outcome.kind,
            outcome.order, name_of(instruction, operation->address), written});
  made_for_[&instruction] = cast<Instruction>(label);
  if (!instruction.getType()->isVoidTy()) {
    // Whether the exchange succeeds depends on what was expected, too.
    Labels all = {label};
    add(all, compared);
    labels_[&instruction] = all;
  }
  ignore(instruction);
}

void FunctionFlow::visit_call(CallBase& made) {
  if (names_function(made, "heddle_end_condition")) {
    Value* const value = made.getArgOperand(0);
    Value* const label = label_of(value);
    IRBuilder<> builder(&made);
    Value* const is_false = builder.CreateZExt(builder.CreateIsNull(value), number_);
    set(&made, call(builder, "heddle_flow_out", number_, {is_false, label, none()}));
    return;
  }
  if (FunctionCallee checked = checked_libc_function(made, of_.module); checked.getCallee() != nullptr)
    return visit_libc_call(made, checked);
  switch (flow_of_call(made)) {
    case FlowOfCall::kConstant: return;
    case FlowOfCall::kComputes: {
      if (!labelled_.contains(&made)) return;
      Labels all;
      for (Value* argument : made.args()) add(all, labels_of(argument));
      labels_[&made] = all;
      return;
    }
    case FlowOfCall::kUnknown: return visit_unknown_call(made);
  }
}

// The runtime does what the C library would, and tells what it reads and writes.
void FunctionFlow::visit_libc_call(CallBase& made, FunctionCallee checked) {
  IRBuilder<> builder(&made);
  Labels all;
  for (Value* argument : made.args()) add(all, labels_of(argument));
  const auto given = four(builder, all);
  tell(builder, "heddle_flow_begin_library", given);
  made.setCalledFunction(checked);
  made.removeFnAttr(Attribute::Memory);
  made.removeFnAttr(Attribute::NoSync);
  IRBuilder<> next(behind(made));
  next.SetCurrentDebugLocation(made.getDebugLoc());
  Value* const label = call(next, "heddle_flow_end_library", number_, {});
  made_for_[&made] = cast<Instruction>(label);
  if (!made.getType()->isVoidTy()) set(&made, label);
}

void FunctionFlow::visit_unknown_call(CallBase& made) {
  IRBuilder<> builder(&made);
  Value* const callee = made.getCalledOperand();
  branch_on(builder, labels_of(callee));
  Labels all;
  SmallVector<Value*> given;
  for (unsigned i = 0; i < made.arg_size(); ++i) {
    Value* const argument = made.getArgOperand(i);
    Value* label = none();
    if (made.isByValArgument(i)) {
      label = call(builder, "heddle_flow_read_range", number_,
                   {argument, builder.getInt64(of_.layout.getTypeAllocSize(made.getParamByValType(i))),
                    name_of(made, argument)});
      add(all, {label});
    } else {
      label = label_of(argument);
      if (!isa<Constant>(label)) add(all, {label});
    }
    given.push_back(label);
  }
  builder.SetInsertPoint(&made);  // joins were made where the values are
  for (unsigned i = 0; i < given.size() && i < runtime::kMostArguments; ++i)
    builder.CreateStore(given[i], argument_place(builder, i));
  builder.CreateStore(callee, field(builder, kCallee));
  builder.CreateStore(builder.getInt32(runtime::kNoLabel), field(builder, kResult));
  branched_.clear();
  if (made.isMustTailCall()) return;
  const auto labels = four(builder, all);
  IRBuilder<> next(behind(made));
  next.SetCurrentDebugLocation(made.getDebugLoc());
  Value* const label =
      call(next, "heddle_flow_after_call", number_,
           {callee, next.getInt32(made.doesNotThrow() ? 0 : 1), labels[0], labels[1], labels[2], labels[3]});
  made_for_[&made] = cast<Instruction>(label);
  if (!made.getType()->isVoidTy()) set(&made, label);
}

void FunctionFlow::visit_return(ReturnInst& leaving) {
  if (leaving.getParent()->getTerminatingMustTailCall() != nullptr) return;
  Value* const label = leaving.getReturnValue() == nullptr ? none() : label_of(leaving.getReturnValue());
  IRBuilder<> builder(&leaving);
  Value* const kept = call(builder, "heddle_flow_return", number_, {mark_, label});
  Value* const place = field(builder, kResult);
  // Whoever did not call us as one of us does not look, but may have been asked himself.
  Value* const before = builder.CreateLoad(number_, place);
  builder.CreateStore(builder.CreateSelect(is_called_by_us_, kept, before), place);
}

void FunctionFlow::fill_phis() {
  for (const auto& [phi, label] : phis_)
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      label->addIncoming(label_of(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
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
      for (Instruction& instruction : *block) makes_labels |= names_function(instruction, "heddle_flow_");
    if (!makes_labels) continue;
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

void FunctionFlow::run(FunctionAnalysisManager& analyses) {
  promote();
  take_marks();
  find_labelled();
  SmallVector<BasicBlock*> blocks;
  for (BasicBlock* block : ReversePostOrderTraversal<Function*>(&function_)) blocks.push_back(block);
  SmallVector<SmallVector<Instruction*>> all;
  for (BasicBlock* block : blocks) {
    all.emplace_back();
    for (Instruction& instruction : *block) all.back().push_back(&instruction);
  }
  at_entry();
  for (const auto& block : all) {
    branched_.clear();
    for (Instruction* instruction : block) visit(*instruction);
  }
  fill_phis();
  use_labels_again();
  // It tells what it does.
  function_.removeFnAttr(Attribute::Memory);
  function_.removeFnAttr(Attribute::NoSync);
  function_.removeFnAttr(Attribute::Speculatable);
  analyses.invalidate(function_, PreservedAnalyses::none());
}

bool is_to_be_followed(const Function& function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) &&
         !function.hasFnAttribute(Attribute::Naked) && !function.getName().starts_with("heddle_");
}

}  // namespace

bool is_following_data() { return follows_data; }

PreservedAnalyses FlowPass::run(Module& module, ModuleAnalysisManager& analyses) {
  auto& of_functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  Shared shared(module);
  SmallVector<Function*> functions;
  for (Function& function : module)
    if (is_to_be_followed(function)) functions.push_back(&function);
  for (Function* function : functions) FunctionFlow(shared, *function).run(of_functions);
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallBase>(&instruction)) call->removeFnAttr(Attribute::Memory);
  FunctionCallee built =
      module.getOrInsertFunction("heddle_flow_is_built", Type::getVoidTy(module.getContext()));
  appendToGlobalCtors(module, cast<Function>(built.getCallee()), 1000);
  return PreservedAnalyses::none();
}

}  // namespace heddle
