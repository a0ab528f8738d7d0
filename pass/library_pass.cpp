#include "pass/library_pass.h"

#include <optional>
#include <utility>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "pass/source_names.h"
#include "pass/surround.h"
#include "runtime/blocks.h"

namespace heddle {

using namespace llvm;

namespace {

// When the operation has happened, by what the function returns.
enum class Succeeds { kAlways, kIfTrue, kNever };

struct Operation {
  HeddleLibraryOperation operation;
  Succeeds succeeds = Succeeds::kAlways;
};

// Functions that are an operation from beginning to end.
const StringMap<Operation>& whole_functions() {
  using enum Succeeds;
  static const StringMap<Operation> table = {
      {"std::barrier::arrive", {kHeddleBarrierArrive}},
      {"std::barrier::arrive_and_drop", {kHeddleBarrierArrive}},
      {"std::barrier::wait", {kHeddleBarrierWait}},
      {"std::barrier::arrive_and_wait", {kHeddleBarrierArriveAndWait}},
      {"std::lock", {kHeddleLockTogether}},
      {"std::latch::count_down", {kHeddleLatchCountDown}},
      {"std::latch::wait", {kHeddleLatchWait}},
      {"std::latch::try_wait", {kHeddleLatchTry, kIfTrue}},
      {"std::latch::arrive_and_wait", {kHeddleLatchArriveAndWait}},
      {"std::counting_semaphore::release", {kHeddleSemaphoreRelease}},
      {"std::counting_semaphore::acquire", {kHeddleSemaphoreAcquire}},
      {"std::counting_semaphore::try_acquire", {kHeddleSemaphoreTry, kIfTrue}},
      {"std::counting_semaphore::try_acquire_for", {kHeddleSemaphoreTry, kIfTrue}},
      {"std::counting_semaphore::try_acquire_until", {kHeddleSemaphoreTry, kIfTrue}},
      {"std::_Sp_counted_base::_M_add_ref_copy", {kHeddleReferenceCopy}},
      {"std::_Sp_counted_base::_M_weak_add_ref", {kHeddleReferenceCount}},
      {"std::_Sp_counted_base::_M_add_ref_lock_nothrow", {kHeddleReferenceLock, kIfTrue}},
      {"std::_Sp_counted_base::_M_get_use_count", {kHeddleReferenceLook, kNever}},
      {"std::__weak_ptr::expired", {kHeddleReferenceEnded, kNever}},
      {"std::_Sp_atomic::_Atomic_count::unlock", {kHeddlePointerRead}},
      {"std::_Sp_atomic::_Atomic_count::_M_swap_unlock", {kHeddlePointerUpdate}},
      {"std::_Sp_atomic::_Atomic_count::_M_wait_unlock", {kHeddlePointerWait}},
      // A future's state: 0, and 1 when it is ready.
      {"std::__atomic_futex_unsigned::_M_store_notify_all", {kHeddleFutureSet}},
      {"std::__atomic_futex_unsigned::_M_load", {kHeddleFutureTry, kIfTrue}},
      {"std::__atomic_futex_unsigned::_M_load_when_equal", {kHeddleFutureWait}},
      {"std::__atomic_futex_unsigned::_M_load_when_equal_for", {kHeddleFutureTry, kIfTrue}},
      {"std::__atomic_futex_unsigned::_M_load_when_equal_until", {kHeddleFutureTry, kIfTrue}},
  };
  return table;
}

constexpr StringRef kConditionAny = "std::_V2::condition_variable_any::";
constexpr StringRef kConditionAnyUnlock = "std::_V2::condition_variable_any::_Unlock::";

// Functions that drop a reference and may then destroy the program's object: only what they do to the counts
// is marked.
bool drops_reference(StringRef name) {
  return name == "std::_Sp_counted_base::_M_release" || name == "std::_Sp_counted_base::_M_weak_release" ||
         name == "std::_Sp_counted_base::_M_release_last_use";
}

// Of a call in condition_variable_any, which keeps a mutex and a condition variable of its own: what they do
// is no doing of the program's. The program's lock is given back and taken again in functions of its _Unlock.
std::optional<HeddleLibraryOperation> inside_condition(StringRef callee) {
  if (callee.starts_with("std::unique_lock::") || callee.starts_with("std::lock_guard::"))
    return kHeddleConditionMutex;
  if (!callee.consume_front("std::condition_variable::")) return std::nullopt;
  if (callee.starts_with("notify_")) return kHeddleConditionNotify;
  if (callee.starts_with("wait") || callee.starts_with("__wait")) return kHeddleConditionWait;
  return std::nullopt;
}

class Marker {
 public:
  explicit Marker(Module& module) : number_(Type::getInt32Ty(module.getContext())) {}

  void mark_whole(Function& function, const Operation& operation) {
    if (function.arg_empty() || !function.getArg(0)->getType()->isPointerTy()) return;
    Value* const object = function.getArg(function.hasStructRetAttr() ? 1 : 0);
    surround(
        function, [&](IRBuilder<>& builder) { enter(builder, operation.operation, object); },
        [&](IRBuilder<>& builder, ReturnInst* leaving) {
          Value* succeeded = builder.getInt32(0);
          if (leaving != nullptr && operation.succeeds == Succeeds::kAlways) succeeded = builder.getInt32(1);
          if (leaving != nullptr && operation.succeeds == Succeeds::kIfTrue)
            succeeded = builder.CreateZExt(builder.CreateIsNotNull(leaving->getReturnValue()), number_);
          leave(builder, operation.operation, object, succeeded);
        });
  }

  // What is entered here is left by another function.
  void mark_beginning(Function& function, HeddleLibraryOperation operation) {
    if (function.arg_empty() || !function.getArg(0)->getType()->isPointerTy()) return;
    surround(
        function, [&](IRBuilder<>& builder) { enter(builder, operation, function.getArg(0)); },
        [](IRBuilder<>&, ReturnInst*) {});
  }

  // `drops`: a reference by which the object is kept, not a weak one.
  void mark_counts(Function& function, bool drops) {
    SmallVector<Instruction*> counts;
    SmallVector<Instruction*> disposals;
    Instruction* both = nullptr;
    for (Instruction& instruction : instructions(function)) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      const Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
      if ((isa<LoadInst>(instruction) && instruction.isAtomic()) ||
          (callee != nullptr && name_of(*callee).qualified == "__gnu_cxx::__exchange_and_add_dispatch"))
        counts.push_back(&instruction);
      else if (call != nullptr && call->isIndirectCall())
        disposals.push_back(&instruction);  // virtual functions: _M_dispose, _M_destroy
      else if (isa<StoreInst>(instruction))
        // Both counts of the last reference: nobody else sees them any more.
        leave_unchecked(instruction);
      if (const auto* store = dyn_cast<StoreInst>(&instruction);
          store != nullptr && !isa<AllocaInst>(store->getPointerOperand()))
        both = &instruction;  // now both are 0
    }
    Value* const object = function.getArg(0);
    for (Instruction* count : counts)
      mark_around(*count, drops && isa<CallBase>(count) ? kHeddleReferenceDrop : kHeddleReferenceCount,
                  object);
    if (both != nullptr && drops) mark_around(*both, kHeddleReferenceDrop, object);
    for (Instruction* disposal : disposals) mark_around(*disposal, kHeddleDisposal, object);
  }

  // A pointer made of a weak one asks for the count again, to know whether there was an object.
  void mark_count_asked_again(Function& function) {
    SmallVector<Instruction*> asked;
    for (Instruction& instruction : instructions(function))
      if (const auto* call = dyn_cast<CallBase>(&instruction);
          call != nullptr && call->getCalledFunction() != nullptr &&
          name_of(*call->getCalledFunction()).qualified == "std::__shared_count::_M_get_use_count")
        asked.push_back(&instruction);
    for (Instruction* call : asked) mark_around(*call, kHeddleReferenceAgain, function.getArg(0));
  }

  // A cache that the library fills without a lock, whoever comes first, always with the same.
  static void mark_cache(Function& function) {
    for (Instruction& instruction : instructions(function))
      if (isa<LoadInst>(instruction) || isa<StoreInst>(instruction)) leave_unchecked(instruction);
  }

  // The library makes the state of the promise ready when the thread ends, in code that is not the program's.
  void mark_set_at_thread_end(Function& function) {
    const uint64_t offset = offset_of_status(*function.getParent());
    if (offset == 0) return;
    surround(
        function, [](IRBuilder<>&) {},
        [&](IRBuilder<>& builder, ReturnInst* leaving) {
          if (leaving == nullptr) return;
          Value* const status = builder.CreateConstGEP1_64(builder.getInt8Ty(), function.getArg(0), offset);
          call_runtime(builder, "heddle_set_at_thread_end", {status});
        });
  }

  void mark_inside_condition(Function& function) {
    SmallVector<std::pair<Instruction*, HeddleLibraryOperation>> calls;
    for (Instruction& instruction : instructions(function)) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      const Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
      if (callee == nullptr || callee->isIntrinsic()) continue;
      if (const auto operation = inside_condition(name_of(*callee).qualified))
        calls.emplace_back(&instruction, *operation);
    }
    Value* const object = function.getArg(function.hasStructRetAttr() ? 1 : 0);
    for (const auto& [call, operation] : calls) mark_around(*call, operation, object);
  }

  // The last to arrive at a barrier calls the program's completion function from here.
  void mark_completion(Function& function) {
    SmallVector<Instruction*> completions;
    for (Instruction& instruction : instructions(function)) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || call->isInlineAsm()) continue;
      const Function* const callee = call->getCalledFunction();
      if (callee != nullptr && callee->isIntrinsic()) continue;
      const std::string name = callee == nullptr ? "" : name_of(*callee).qualified;
      const bool is_own = name == "std::hash::operator()" || name == "std::__empty_completion::operator()" ||
                          (is_of_library(name) && !StringRef(name).ends_with("::operator()")) ||
                          (callee != nullptr && callee->getName().starts_with("__clang"));
      if (!is_own) completions.push_back(&instruction);
    }
    for (Instruction* completion : completions)
      mark_around(*completion, kHeddleBarrierCompletion, function.getArg(0));
  }

 private:
  static void leave_unchecked(Instruction& instruction) {
    instruction.setMetadata(LLVMContext::MD_nosanitize, MDNode::get(instruction.getContext(), {}));
  }
  // Of what threads wait for, in the shared state of a promise; 0: this library keeps it elsewhere.
  static uint64_t offset_of_status(const Module& module) {
    auto* const state =
        StructType::getTypeByName(module.getContext(), "class.std::__future_base::_State_baseV2");
    if (state == nullptr || state->isOpaque()) return 0;
    for (unsigned i = 0; i < state->getNumElements(); ++i)
      if (const auto* const member = dyn_cast<StructType>(state->getElementType(i));
          member != nullptr && member->hasName() && member->getName().contains("__atomic_futex_unsigned"))
        return module.getDataLayout().getStructLayout(state)->getElementOffset(i);
    return 0;
  }
  void mark_around(Instruction& instruction, HeddleLibraryOperation operation, Value* object) {
    surround(
        instruction, [&](IRBuilder<>& builder) { enter(builder, operation, object); },
        [&](IRBuilder<>& builder) { leave(builder, operation, object, builder.getInt32(1)); });
  }
  static void enter(IRBuilder<>& builder, HeddleLibraryOperation operation, Value* object) {
    call_runtime(builder, "heddle_enter_library", {builder.getInt32(operation), object});
  }
  static void leave(IRBuilder<>& builder, HeddleLibraryOperation operation, Value* object, Value* succeeded) {
    call_runtime(builder, "heddle_leave_library", {builder.getInt32(operation), object, succeeded});
  }

  Type* number_;
};

}  // namespace

PreservedAnalyses LibraryPass::run(Module& module, ModuleAnalysisManager&) {
  Marker marker(module);
  for (Function& function : module) {
    if (function.isDeclaration() || !function.getName().starts_with("_Z")) continue;
    const std::string name = name_of(function).qualified;
    if (!is_of_library(name)) continue;
    if (const auto found = whole_functions().find(name); found != whole_functions().end())
      marker.mark_whole(function, found->second);
    else if (drops_reference(name))
      marker.mark_counts(function, name == "std::_Sp_counted_base::_M_release");
    else if (StringRef(name).starts_with(kConditionAny) && !StringRef(name).starts_with(kConditionAnyUnlock))
      marker.mark_inside_condition(function);
    else if (name == "std::__shared_ptr::__shared_ptr")
      marker.mark_count_asked_again(function);
    else if (name == "std::_Sp_atomic::_Atomic_count::lock")
      marker.mark_beginning(function, kHeddlePointerLock);
    else if (name == "std::__future_base::_State_baseV2::_M_set_delayed_result")
      marker.mark_set_at_thread_end(function);
    else if (name == "std::ctype::narrow" || name == "std::ctype::widen")
      Marker::mark_cache(function);
    else if (name == "std::__tree_barrier::arrive")
      marker.mark_completion(function);
  }
  return PreservedAnalyses::none();
}

}  // namespace heddle
