#include "pass/access_pass.h"

#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "pass/access_names.h"
#include "pass/atomic_operation.h"
#include "pass/focus_pass.h"
#include "pass/libc_calls.h"
#include "pass/loop_series.h"
#include "pass/source_place.h"
#include "pass/stretch_accesses.h"
#include "pass/surround.h"
#include "pass/texts.h"
#include "pass/trivial_blocks.h"
#include "runtime/interface.h"
#include "runtime/layout.h"

namespace heddle {

using namespace llvm;

namespace {

cl::opt<bool> checks_accesses("heddle-check-accesses", cl::init(true), cl::Hidden,
                              cl::desc("Check plain accesses (bench/focus --bound: what the rest costs)"));

// The fields of HeddleThreadState.
enum StateField : unsigned { kStamp, kGroup, kShadow, kFrame, kCellMask = 6, kHalfMask };

class Instrumenter {
 public:
  explicit Instrumenter(Module& module)
      : module_(module),
        layout_(module.getDataLayout()),
        context_(module.getContext()),
        names_(module),
        focus_(module),
        texts_(module) {
    auto* const word = Type::getInt64Ty(context_);
    auto* const pointer = PointerType::getUnqual(context_);
    state_type_ = StructType::get(context_, {word, word, pointer, pointer, pointer, word, word, word});
    state_ = module.getOrInsertGlobal("heddle_thread_state", state_type_, [&] {
      return new GlobalVariable(module, state_type_, false, GlobalValue::ExternalLinkage, nullptr,
                                "heddle_thread_state", nullptr, GlobalValue::InitialExecTLSModel);
    });
    frame_type_ = StructType::get(context_, {pointer, pointer, word});
  }

  void instrument(Function& function, FunctionAnalysisManager& analyses);
  bool has_fences() const { return has_fences_; }

 private:
  Value* address_of(const Access& access, IRBuilder<>& builder) const;
  // What the thread's state says of the shadow: the same for as long as the thread lives.
  struct Shadow {
    Value* base;
    Value* cell_mask;
    Value* half_mask;
  };
  Shadow load_shadow(IRBuilder<>& builder);
  void check(const Access& access, const Shadow& shadow, bool is_leaf);
  void check_atomic(Instruction& instruction);
  void check_relaxed_update(AtomicRMWInst& update);
  void check_atomic_load(LoadInst& load);
  void check_block_operation(MemIntrinsic& operation, bool is_leaf);
  void check_libc_call(CallBase& call);
  void check(const Series& series, bool is_leaf);
  void keep_frame(Function& function);
  Value* state_field(IRBuilder<>& builder, unsigned field) {
    Value* state = builder.CreateThreadLocalAddress(state_);
    return builder.CreateStructGEP(state_type_, state, field);
  }
  FunctionCallee slow_path(StringRef name, ArrayRef<Type*> parameters) {
    FunctionCallee callee =
        module_.getOrInsertFunction(name, FunctionType::get(Type::getVoidTy(context_), parameters, false));
    if (auto* function = dyn_cast<Function>(callee.getCallee())) {
      function->setCallingConv(CallingConv::PreserveAll);
      function->addFnAttr(Attribute::NoUnwind);
      function->addFnAttr(Attribute::NonLazyBind);  // the lazy binder would not keep r10
    }
    return callee;
  }
  void call_slow_path(IRBuilder<>& builder, StringRef name, ArrayRef<Value*> arguments) {
    SmallVector<Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    CallInst* call = builder.CreateCall(slow_path(name, types), arguments);
    call->setCallingConv(CallingConv::PreserveAll);
    call->setDoesNotThrow();
  }
  // Functions that call no others keep no frame; the slow path learns their caller from here.
  Value* caller(IRBuilder<>& builder, bool is_leaf) {
    auto* const pointer = PointerType::getUnqual(context_);
    if (!is_leaf) return ConstantPointerNull::get(pointer);
    return builder.CreateIntrinsic(pointer, Intrinsic::returnaddress, {builder.getInt32(0)});
  }

  Constant* text(StringRef name) { return texts_.get(name); }

  Module& module_;
  const DataLayout& layout_;
  LLVMContext& context_;
  AccessNames names_;
  FocusSpots focus_;
  Texts texts_;
  bool has_fences_ = false;
  StructType* state_type_;
  StructType* frame_type_;
  Constant* state_;
};

bool is_call_of_other_code(const Instruction& instruction) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr || isa<IntrinsicInst>(call)) return false;
  return !call->isInlineAsm();
}

bool is_of_own(MemIntrinsic& operation, const DominatorTree& dominators) {
  const auto* const transfer = dyn_cast<MemTransferInst>(&operation);
  return is_still_own(operation, operation.getDest(), dominators) &&
         (transfer == nullptr || !may_be_shared(transfer->getSource()) ||
          is_still_own(operation, transfer->getSource(), dominators));
}

Value* Instrumenter::address_of(const Access& access, IRBuilder<>& builder) const {
  if (access.offset == access.address_offset) return access.address;
  return builder.CreatePtrAdd(access.address,
                              builder.getInt64(static_cast<uint64_t>(access.offset - access.address_offset)));
}

Instrumenter::Shadow Instrumenter::load_shadow(IRBuilder<>& builder) {
  const auto load = [&](Type* type, StateField field) {
    LoadInst* const value = builder.CreateLoad(type, state_field(builder, field));
    value->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context_, {}));
    return value;
  };
  auto* const word = builder.getInt64Ty();
  return {load(PointerType::getUnqual(context_), kShadow), load(word, kCellMask), load(word, kHalfMask)};
}

void Instrumenter::check(const Access& access, const Shadow& shadow, bool is_leaf) {
  IRBuilder<> builder(access.checked_at());
  builder.SetCurrentDebugLocation(source_place(*access.instruction));
  auto* const word = builder.getInt64Ty();
  Value* const pointer = address_of(access, builder);
  const StringRef kind = access.writes ? "write" : "read";
  const uint64_t size = access.size;
  const bool is_small = size == 1 || size == 2 || size == 4;
  const bool is_lanes = size % 8 == 0 && size <= 64;
  if (!(is_small && access.alignment >= size) && !is_lanes) {
    call_slow_path(builder, (Twine("heddle_") + kind + "_range").str(),
                   {pointer, builder.getInt64(size), text(access.name), caller(builder, is_leaf)});
    return;
  }

  Value* stamp = builder.CreateLoad(word, state_field(builder, kStamp));
  Value* address = builder.CreatePtrToInt(pointer, word);
  Value* place = builder.CreateAnd(address, is_small ? shadow.half_mask : shadow.cell_mask);
  Value* offset = builder.CreateShl(place, 1);
  if (is_small) offset = builder.CreateSub(offset, builder.CreateAnd(place, 4));
  if (access.writes) offset = builder.CreateAdd(offset, builder.getInt64(8));
  Value* cell = builder.CreateGEP(builder.getInt8Ty(), shadow.base, offset);
  // The words that say who has accessed this before.
  SmallVector<Value*> states;
  Type* const state_type = is_small ? static_cast<Type*>(builder.getInt32Ty()) : word;
  for (uint64_t lane = 0; lane * 8 < size; ++lane)
    states.push_back(
        builder.CreateLoad(state_type, builder.CreateConstGEP1_64(builder.getInt8Ty(), cell, lane * 16)));
  const auto differ_from = [&](Value* expected) {
    expected = builder.CreateTrunc(expected, state_type);
    if (states.size() == 1) return builder.CreateICmpNE(states[0], expected);
    Value* difference = nullptr;
    for (Value* state : states) {
      Value* here = builder.CreateXor(state, expected);
      difference = difference == nullptr ? here : builder.CreateOr(difference, here);
    }
    return builder.CreateICmpNE(difference, builder.getInt64(0));
  };
  Value* differs = differ_from(stamp);
  Value* is_misplaced = nullptr;
  if (!is_small && access.alignment < 8) {
    is_misplaced = builder.CreateICmpNE(builder.CreateAnd(address, 7), builder.getInt64(0));
    differs = builder.CreateOr(differs, is_misplaced);
  }

  MDNode* const unlikely = MDBuilder(context_).createUnlikelyBranchWeights();
  Instruction* cold = SplitBlockAndInsertIfThen(differs, access.checked_at(), false, unlikely);
  builder.SetInsertPoint(cold);
  builder.SetCurrentDebugLocation(source_place(*access.instruction));
  if (!access.writes) {
    // Memory that several threads read.
    Value* is_new = differ_from(builder.CreateLoad(word, state_field(builder, kGroup)));
    if (is_misplaced != nullptr) is_new = builder.CreateOr(is_new, is_misplaced);
    cold = SplitBlockAndInsertIfThen(is_new, cold, false, unlikely);
    builder.SetInsertPoint(cold);
    builder.SetCurrentDebugLocation(source_place(*access.instruction));
  }
  if (size <= 8 && access.alignment >= size) {
    call_slow_path(builder, (Twine("heddle_") + kind + Twine(size)).str(),
                   {pointer, text(access.name), caller(builder, is_leaf)});
  } else {
    call_slow_path(builder, (Twine("heddle_") + kind + "_range").str(),
                   {pointer, builder.getInt64(size), text(access.name), caller(builder, is_leaf)});
  }
}

void Instrumenter::check_block_operation(MemIntrinsic& operation, bool is_leaf) {
  if (operation.hasMetadata(LLVMContext::MD_nosanitize)) return;
  if (const auto* size = dyn_cast<ConstantInt>(operation.getLength());
      size != nullptr && focus_.covers(operation, size->getZExtValue()))
    return;
  IRBuilder<> builder(&operation);
  Value* length = builder.CreateZExtOrTrunc(operation.getLength(), builder.getInt64Ty());
  const auto check_range = [&](StringRef slow_path, Value* address) {
    if (!may_be_shared(address)) return;
    call_slow_path(builder, slow_path,
                   {address, length, text(names_.name_of(operation, address)), caller(builder, is_leaf)});
  };
  if (auto* transfer = dyn_cast<MemTransferInst>(&operation))
    check_range("heddle_read_range", transfer->getSource());
  check_range("heddle_write_range", operation.getDest());
}

// The runtime does what the C library would, and checks it.
void Instrumenter::check_libc_call(CallBase& call) {
  if (!may_order_threads(call) && none_of(call.args(), [&](Value* given) {
        return given->getType()->isPointerTy() && may_be_shared(given);
      }))
    return;
  FunctionCallee checked = checked_libc_function(call, module_);
  if (checked.getCallee() == nullptr) return;
  call.setCalledFunction(checked);
  // What the call does not do, the checked one does: it changes the thread's own state.
  call.removeFnAttr(Attribute::Memory);
  call.removeFnAttr(Attribute::NoSync);
}

// The operation stays what it is, between two calls of the runtime.
void Instrumenter::check_atomic(Instruction& instruction) {
  IRBuilder<> builder(&instruction);
  auto* const nothing = builder.getVoidTy();
  auto* const pointer = builder.getPtrTy();
  auto* const number = builder.getInt32Ty();
  if (auto* fence = dyn_cast<FenceInst>(&instruction)) {
    if (fence->getSyncScopeID() == SyncScope::SingleThread) return;
    has_fences_ = true;
    builder.CreateCall(module_.getOrInsertFunction("heddle_fence", nothing, number),
                       {builder.getInt32(meaning_of(fence->getOrdering()))});
    return;
  }
  const std::optional<AtomicOperation> operation = atomic_operation(instruction);
  if (!operation || instruction.hasMetadata(LLVMContext::MD_nosanitize)) return;
  Value* const address = operation->address;
  if (!may_be_shared(address)) return;
  if (auto* load = dyn_cast<LoadInst>(&instruction);
      load != nullptr && !load->isVolatile() && !focus_.is_quiet_load(instruction))
    return check_atomic_load(*load);
  // Only who wants to know all that atomics do is told of a load that means nothing to races.
  Value* is_told = nullptr;
  if (focus_.is_quiet_load(instruction)) is_told = ask_whether_told(builder);
  const auto go_where_told = [&](Instruction* before) {
    builder.SetInsertPoint(is_told == nullptr ? before : SplitBlockAndInsertIfThen(is_told, before, false));
    builder.SetCurrentDebugLocation(source_place(instruction));  // not that of what comes next
  };
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction);
      update != nullptr && update->getOrdering() == AtomicOrdering::Monotonic)
    return check_relaxed_update(*update);
  go_where_told(&instruction);
  builder.CreateCall(module_.getOrInsertFunction("heddle_begin_atomic", nothing, pointer), {address});
  go_where_told(instruction.getNextNode());
  const AtomicOperation::Outcome outcome = operation->outcome(builder);
  builder.CreateCall(module_.getOrInsertFunction("heddle_end_atomic", nothing, pointer, builder.getInt64Ty(),
                                                 number, number, pointer),
                     {address, builder.getInt64(layout_.getTypeStoreSize(operation->type)), outcome.kind,
                      outcome.order, text(names_.name_of(instruction, address))});
}

// Most take no lock (runtime/relaxed_updates.cpp).
void Instrumenter::check_relaxed_update(AtomicRMWInst& update) {
  IRBuilder<> builder(&update);
  auto* const pointer = builder.getPtrTy();
  auto* const number = builder.getInt32Ty();
  Value* const address = update.getPointerOperand();
  Value* const size = builder.getInt64(layout_.getTypeStoreSize(update.getType()));
  Value* const begun = builder.CreateCall(
      module_.getOrInsertFunction("heddle_begin_relaxed_update", number, pointer, size->getType()),
      {address, size});
  builder.SetInsertPoint(update.getNextNode());
  builder.SetCurrentDebugLocation(source_place(update));  // not that of what comes next
  builder.CreateCall(module_.getOrInsertFunction("heddle_end_relaxed_update", builder.getVoidTy(), pointer,
                                                 size->getType(), pointer, number),
                     {address, size, text(names_.name_of(update, address)), begun});
}

// Until nobody has changed the variable meanwhile: most loads take no lock (runtime/atomics.cpp).
void Instrumenter::check_atomic_load(LoadInst& load) {
  BasicBlock* const attempt = SplitBlock(load.getParent(), &load);
  BasicBlock* const done = SplitBlock(attempt, load.getNextNode());
  IRBuilder<> builder(&load);
  auto* const pointer = builder.getPtrTy();
  auto* const number = builder.getInt32Ty();
  Value* const address = load.getPointerOperand();
  Value* const begun =
      builder.CreateCall(module_.getOrInsertFunction("heddle_begin_load", number, pointer), {address});
  Instruction* const end = attempt->getTerminator();
  builder.SetInsertPoint(end);
  builder.SetCurrentDebugLocation(load.getDebugLoc());
  Value* const again = builder.CreateCall(
      module_.getOrInsertFunction("heddle_end_load", number, pointer, builder.getInt64Ty(), number, pointer,
                                  number),
      {address, builder.getInt64(layout_.getTypeStoreSize(load.getType())),
       builder.getInt32(meaning_of(load.getOrdering())), text(names_.name_of(load, address)), begun});
  builder.CreateCondBr(builder.CreateIsNotNull(again), attempt, done,
                       MDBuilder(context_).createBranchWeights(1, 1000));
  end->eraseFromParent();
}

void Instrumenter::check(const Series& series, bool is_leaf) {
  const Access& access = series.access;
  IRBuilder<> builder(series.before);
  builder.SetCurrentDebugLocation(source_place(*access.instruction));
  call_slow_path(builder, access.writes ? "heddle_write_series" : "heddle_read_series",
                 {series.start, series.count, builder.getInt64(static_cast<uint64_t>(series.step)),
                  builder.getInt64(access.size), text(access.name), caller(builder, is_leaf)});
}

// A function that calls others stands in the list of frames while it runs.
void Instrumenter::keep_frame(Function& function) {
  IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  builder.SetCurrentDebugLocation(DebugLoc());
  AllocaInst* frame = builder.CreateAlloca(frame_type_);
  Value* top = state_field(builder, kFrame);
  auto* const pointer = PointerType::getUnqual(context_);
  Value* outer = builder.CreateLoad(pointer, top);
  builder.CreateStore(outer, builder.CreateStructGEP(frame_type_, frame, 0));
  builder.CreateStore(builder.CreateIntrinsic(pointer, Intrinsic::returnaddress, {builder.getInt32(0)}),
                      builder.CreateStructGEP(frame_type_, frame, 1));
  builder.CreateStore(builder.getInt64(0), builder.CreateStructGEP(frame_type_, frame, 2));
  builder.CreateStore(frame, top);
  for (BasicBlock& block : function) {
    Instruction* last = block.getTerminator();
    if (isa<ReturnInst>(last) || isa<ResumeInst>(last)) {
      if (CallInst* tail = block.getTerminatingMustTailCall()) last = tail;
      IRBuilder<> at_end(last);
      at_end.CreateStore(outer, state_field(at_end, kFrame));
    } else if (block.isLandingPad()) {
      // Whoever threw did not leave its frames.
      IRBuilder<> caught(&*block.getFirstInsertionPt());
      caught.CreateStore(frame, state_field(caught, kFrame));
    }
  }
  for (Instruction& instruction : instructions(function))
    if (auto* call = dyn_cast<CallInst>(&instruction); call != nullptr && !call->isMustTailCall())
      call->setTailCall(false);
}

void Instrumenter::instrument(Function& function, FunctionAnalysisManager& analyses) {
  if (function.isDeclaration() || function.hasAvailableExternallyLinkage()) return;
  if (function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) ||
      function.hasFnAttribute(Attribute::Naked))
    return;
  if (function.getName().starts_with("heddle_")) return;
  remove_trivial_blocks(function);
  // Who catches an exception may be code that does not keep the list of frames (keep_frame).
  if (any_of(instructions(function), is_call_of_other_code)) {
    catch_what_leaves(function);
    analyses.invalidate(function, PreservedAnalyses::none());
  }
  ScalarEvolution& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SmallVector<Access> accesses;
  SmallVector<MemIntrinsic*> block_operations;
  SmallVector<Instruction*> atomics;
  SmallVector<CallBase*> calls;
  bool is_leaf = true;
  const DominatorTree& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  for (BasicBlock& block : function) {
    accesses.append(stretch_accesses(block, evolution, dominators, names_, focus_));
    for (Instruction& instruction : block) {
      if (auto* operation = dyn_cast<MemIntrinsic>(&instruction))
        if (!is_focusing() || !is_of_own(*operation, dominators)) block_operations.push_back(operation);
      if (is_call_of_other_code(instruction)) {
        is_leaf = false;
        calls.push_back(cast<CallBase>(&instruction));
      }
      if (instruction.isAtomic()) atomics.push_back(&instruction);
    }
  }
  if (accesses.empty() && block_operations.empty() && is_leaf && atomics.empty()) return;
  if (!checks_accesses) {
    accesses.clear();
    block_operations.clear();
  }
  take_out_of_loops(function, analyses, accesses);
  take_series(function, analyses, accesses, [&](const Series& series) { check(series, is_leaf); });
  if (!is_leaf) keep_frame(function);
  if (!accesses.empty()) {
    IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    const Shadow shadow = load_shadow(builder);
    for (const Access& access : accesses) check(access, shadow, is_leaf);
  }
  for (MemIntrinsic* operation : block_operations) check_block_operation(*operation, is_leaf);
  for (Instruction* atomic : atomics) check_atomic(*atomic);
  for (CallBase* call : calls) check_libc_call(*call);
}

cl::opt<uint32_t> interface("heddle-interface", cl::init(runtime::kInterface), cl::Hidden,
                            cl::desc("Say that the code is built for another runtime (for tests)"));

// Before any other code of the program or library, once for each of them.
template <class... Numbers>
void say_first(Module& module, const std::string& name, StringRef function, Numbers... given) {
  LLVMContext& context = module.getContext();
  auto* const nothing = Type::getVoidTy(context);
  auto* const constructor =
      Function::Create(FunctionType::get(nothing, false), GlobalValue::LinkOnceODRLinkage, name, module);
  constructor->setComdat(module.getOrInsertComdat(name));
  constructor->setVisibility(GlobalValue::HiddenVisibility);
  IRBuilder<> builder(BasicBlock::Create(context, "", constructor));
  const std::vector<Value*> arguments = {builder.getInt32(given)...};
  const std::vector<Type*> types(arguments.size(), builder.getInt32Ty());
  builder.CreateCall(module.getOrInsertFunction(function, FunctionType::get(nothing, types, false)),
                     arguments);
  builder.CreateRetVoid();
  constexpr int kFirst = 1;
  appendToGlobalCtors(module, constructor, kFirst, constructor);
}

void say_what_it_is_built_for(Module& module) {
  const auto is_ours = [](const GlobalValue& value) { return value.getName().starts_with("heddle_"); };
  if (none_of(module.functions(), is_ours) && none_of(module.globals(), is_ours)) return;
  say_first(module, formatv("heddle_built_for_{0}", interface.getValue()), "heddle_check_interface",
            interface.getValue());
}

}  // namespace

PreservedAnalyses AccessPass::run(Module& module, ModuleAnalysisManager& analyses) {
  Instrumenter instrumenter(module);
  auto& of_functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  for (Function& function : module) instrumenter.instrument(function, of_functions);
  if (is_focusing())
    remove_marks(module);
  else
    note_no_focus(module);
  if (instrumenter.has_fences()) say_first(module, "heddle_has_fences", "heddle_expect_fences");
  say_what_it_is_built_for(module);
  return PreservedAnalyses::none();
}

}  // namespace heddle
