// What a function does to memory and to other functions.
#include "pass/atomic_operation.h"
#include "pass/flow_function.h"
#include "pass/flow_functions.h"
#include "pass/libc_calls.h"

namespace heddle {

using namespace llvm;

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
  if (calls_named(made, "heddle_end_condition")) {
    Value* const value = made.getArgOperand(0);
    Value* const label = label_of(value);
    IRBuilder<> builder(&made);
    Value* const is_false = builder.CreateZExt(builder.CreateIsNull(value), number_);
    set(&made, call(builder, "heddle_flow_out", number_, {is_false, label, none()}));
    return;
  }
  if (FunctionCallee checked = followed_library_function(made, of_.module); checked.getCallee() != nullptr)
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

// A HeddleFlowCall, for a callee that may be without labels.
Value* FunctionFlow::describe(IRBuilder<>& builder, CallBase& made) {
  SmallVector<Value*> pointers;
  for (Value* argument : made.args())
    if (argument->getType()->isPointerTy() && !isa<ConstantPointerNull>(argument) &&
        !isa<Function>(argument) && is_followed(argument))
      pointers.push_back(argument);
  IRBuilder<> entry(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto* const type = ArrayType::get(builder.getPtrTy(), pointers.size());
  AllocaInst* const list = entry.CreateAlloca(type);
  AllocaInst* const call = entry.CreateAlloca(of_.call_type);
  for (unsigned i = 0; i < pointers.size(); ++i)
    builder.CreateStore(pointers[i], builder.CreateConstGEP2_32(type, list, 0, i));
  const auto set_field = [&](unsigned index, Value* value) {
    builder.CreateStore(value, builder.CreateStructGEP(of_.call_type, call, index));
  };
  set_field(0, made.getCalledOperand());
  set_field(1, list);
  set_field(2, builder.getInt32(static_cast<uint32_t>(pointers.size())));
  set_field(3, builder.getInt32(kind_of_call(made)));
  set_field(4, top_);
  return call;
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
      // What the callee cannot be told the label of, counts as a branch.
      if (i >= made.getFunctionType()->getNumParams() || i >= runtime::kMostArguments)
        branch_on(builder, {label});
    }
    given.push_back(label);
  }
  builder.SetInsertPoint(&made);  // joins were made where the values are
  const auto labels = four(builder, all);
  const auto* const definition = dyn_cast<Function>(callee);
  const bool is_known = definition != nullptr && is_to_be_followed(*definition);
  Value* const unknown = is_known ? nullptr : describe(builder, made);
  Value* seen = builder.getInt32(runtime::kNoLabel);
  if (unknown != nullptr)
    seen = call(builder, "heddle_flow_before_call", number_,
                {unknown, labels[0], labels[1], labels[2], labels[3]});
  for (unsigned i = 0; i < given.size() && i < runtime::kMostArguments; ++i)
    builder.CreateStore(given[i], argument_place(builder, i));
  builder.CreateStore(callee, field(builder, kCallee));
  // A call in our place returns to our caller, who asks what its result depends on.
  builder.CreateStore(made.isMustTailCall() ? seen : builder.getInt32(runtime::kNoLabel),
                      field(builder, kResult));
  branched_.clear();
  if (made.isMustTailCall()) return;
  IRBuilder<> next(behind(made));
  next.SetCurrentDebugLocation(made.getDebugLoc());
  Value* const label =
      unknown == nullptr
          ? call(next, "heddle_flow_after_call", number_, {top_, labels[0], labels[1], labels[2], labels[3]})
          : call(next, "heddle_flow_after_unknown_call", number_, {top_, seen});
  made_for_[&made] = cast<Instruction>(label);
  if (!made.getType()->isVoidTy()) set(&made, label);
}

// Calls that were left by an exception do what they do no longer.
void FunctionFlow::visit_landing(LandingPadInst& landing) {
  IRBuilder<> builder(&*landing.getParent()->getFirstInsertionPt());
  builder.SetCurrentDebugLocation(landing.getDebugLoc());
  tell(builder, "heddle_flow_landed", {top_});
}

void FunctionFlow::visit_return(ReturnInst& leaving) {
  if (leaving.getParent()->getTerminatingMustTailCall() != nullptr) return;
  Value* const label = leaving.getReturnValue() == nullptr ? none() : label_of(leaving.getReturnValue());
  IRBuilder<> builder(&leaving);
  Value* const kept = call(builder, "heddle_flow_return", number_,
                           {mark_, label, builder.CreateZExt(is_called_by_us_, number_)});
  Value* const place = field(builder, kResult);
  // Whoever did not call us as one of us does not look, but may have been asked himself.
  Value* const before = builder.CreateLoad(number_, place);
  builder.CreateStore(builder.CreateSelect(is_called_by_us_, kept, before), place);
}

}  // namespace heddle
