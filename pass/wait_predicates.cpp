#include "pass/wait_predicates.h"

#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "pass/function_summary.h"
#include "pass/library_functions.h"

namespace heddle {

using namespace llvm;

namespace {

// That of std::condition_variable, which knows one kind of lock. Others call members of the lock, too.
bool is_wait(const Function& function) {
  StringRef symbol = function.getName();
  return symbol.consume_front("_ZNSt18condition_variable") &&
         (symbol.starts_with("4wait") || symbol.starts_with("8wait_for") ||
          symbol.starts_with("10wait_until"));
}

// Calls of functions that this file has.
SmallVector<CallBase*> calls_in(const Function& function) {
  SmallVector<CallBase*> calls;
  for (Instruction& instruction : instructions(const_cast<Function&>(function)))
    if (auto* call = dyn_cast<CallBase>(&instruction))
      if (const Function* callee = call->getCalledFunction(); callee != nullptr && !callee->isDeclaration())
        calls.push_back(call);
  return calls;
}

// The library's loops that call predicates, and those. A loop that waits for some time calls one that waits
// until then.
class Waits {
 public:
  bool are_used_by(const Function& function) {
    return any_of(calls_in(function),
                  [&](const CallBase* call) { return has_predicate(*call->getCalledFunction()); });
  }

  // False: the function waits with none.
  bool become_part_of(Function& function) {
    SmallVector<CallBase*> waiting;
    for (CallBase* call : calls_in(function))
      if (has_predicate(*call->getCalledFunction())) waiting.push_back(call);
    const bool has_one = !waiting.empty();
    while (!waiting.empty())
      for (CallBase* call : embed(*waiting.pop_back_val(), function)) {
        Function& callee = *call->getCalledFunction();
        if (has_predicate(callee))
          waiting.push_back(call);
        else if (!is_library_function(callee))
          embed(*call, function);
      }
    return has_one;
  }

  // What nobody else calls is said by who waits.
  void remove_unused() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (Function* function : embedded_.getArrayRef()) {
        if (!function->isDefTriviallyDead()) continue;
        embedded_.remove(function);
        function->eraseFromParent();
        has_changed = true;
        break;
      }
    }
  }

 private:
  bool has_predicate(const Function& function) {
    if (!is_wait(function)) return false;
    const auto [known, is_new] = known_.try_emplace(&function, false);
    if (!is_new) return known->second;
    const bool has_one = any_of(calls_in(function), [&](const CallBase* call) {
      const Function& callee = *call->getCalledFunction();
      return has_predicate(callee) || !is_library_function(callee);
    });
    return known_[&function] = has_one;
  }

  // The calls that the function has of its own since the callee is a part of it.
  SmallVector<CallBase*> embed(CallBase& call, Function& function) {
    SmallPtrSet<const CallBase*, 32> known;
    for (const CallBase* other : calls_in(function))
      if (other != &call) known.insert(other);
    Function& callee = *call.getCalledFunction();
    InlineFunctionInfo information;
    if (!InlineFunction(call, information).isSuccess()) return {};
    embedded_.insert(&callee);
    SmallVector<CallBase*> added = calls_in(function);
    erase_if(added, [&](const CallBase* other) { return known.contains(other); });
    return added;
  }

  DenseMap<const Function*, bool> known_;
  SmallSetVector<Function*, 8> embedded_;
};

// Makes variables of the members of local closures that are only written, read and copied as a whole, so that
// what they have captured is known where it is used.
class Closures {
 public:
  explicit Closures(Function& function) : layout_(function.getParent()->getDataLayout()) {
    for (Instruction& instruction : function.getEntryBlock())
      if (auto* variable = dyn_cast<AllocaInst>(&instruction);
          variable != nullptr && is_of_scalars(*variable))
        found_.insert(variable);
    while (found_.remove_if([&](AllocaInst* variable) { return !is_seen(*variable); })) {
    }
  }

  void split() {
    for (AllocaInst* variable : found_) add_members(*variable);
    for (AllocaInst* variable : found_) redirect(*variable);
    for (Instruction* instruction : superfluous_) instruction->dropAllReferences();
    for (Instruction* instruction : superfluous_) instruction->eraseFromParent();
  }

 private:
  struct Part {
    AllocaInst* variable;
    unsigned member;
  };

  static bool is_of_scalars(const AllocaInst& variable) {
    const auto* type = dyn_cast<StructType>(variable.getAllocatedType());
    return type != nullptr && !variable.isArrayAllocation() &&
           all_of(type->elements(),
                  [](const Type* member) { return member->isSingleValueType() || is_padding(*member); });
  }
  static bool is_padding(const Type& member) {
    return member.isArrayTy() && member.getArrayElementType()->isIntegerTy(8);
  }

  // Without what only fills it up at the end.
  uint64_t size_of_members(StructType& type) const {
    const StructLayout& members = *layout_.getStructLayout(&type);
    unsigned count = type.getNumElements();
    while (count > 0 && is_padding(*type.getElementType(count - 1))) --count;
    return count == 0 ? 0
                      : members.getElementOffset(count - 1) +
                            layout_.getTypeStoreSize(type.getElementType(count - 1)).getFixedValue();
  }

  // Which member an address leads to; nothing: no such.
  std::optional<Part> part_at(const Value* address) const {
    APInt offset(layout_.getIndexTypeSizeInBits(address->getType()), 0);
    auto* variable = dyn_cast<AllocaInst>(
        const_cast<Value*>(address->stripAndAccumulateConstantOffsets(layout_, offset, true)));
    if (variable == nullptr || !found_.contains(variable)) return std::nullopt;
    auto* const type = cast<StructType>(variable->getAllocatedType());
    const StructLayout& members = *layout_.getStructLayout(type);
    if (offset.uge(members.getSizeInBytes())) return std::nullopt;
    const unsigned member = members.getElementContainingOffset(offset.getZExtValue());
    if (members.getElementOffset(member) != offset.getZExtValue()) return std::nullopt;
    return Part{variable, member};
  }

  bool is_member_accessed(const Value* address, const Type* type) const {
    const std::optional<Part> part = part_at(address);
    return part && part->variable->getAllocatedType()->getStructElementType(part->member) == type;
  }

  // A pointer that has been captured must go by the same names in there as it does here, whether or not the
  // closure is looked at as a part of this function (pass/focus_pass.cpp does not): so it points to a whole
  // object, and not to a member that it would be told by here.
  bool may_be_captured(const Value* value) const {
    if (!value->getType()->isPointerTy() || isa<Argument>(value) || isa<AllocaInst>(value)) return true;
    const auto* const load = dyn_cast<LoadInst>(value);
    return load != nullptr && part_at(load->getPointerOperand()).has_value();
  }

  bool is_copy_of_whole(const MemTransferInst& copy) const {
    const auto* const to = dyn_cast<AllocaInst>(copy.getRawDest());
    const auto* const from = dyn_cast<AllocaInst>(copy.getRawSource());
    const auto* const length = dyn_cast<ConstantInt>(copy.getLength());
    return to != nullptr && from != nullptr && length != nullptr &&
           found_.contains(const_cast<AllocaInst*>(to)) && found_.contains(const_cast<AllocaInst*>(from)) &&
           to->getAllocatedType() == from->getAllocatedType() &&
           length->getZExtValue() >= size_of_members(*cast<StructType>(to->getAllocatedType()));
  }

  bool is_seen(const Value& address) const {
    return all_of(address.uses(), [&](const Use& use) {
      const auto* const user = cast<Instruction>(use.getUser());
      if (user->isLifetimeStartOrEnd() || user->isDebugOrPseudoInst()) return true;
      if (const auto* load = dyn_cast<LoadInst>(user))
        return load->isSimple() && is_member_accessed(&address, load->getType());
      if (const auto* store = dyn_cast<StoreInst>(user))
        return store->isSimple() && use.getOperandNo() == StoreInst::getPointerOperandIndex() &&
               is_member_accessed(&address, store->getValueOperand()->getType()) &&
               may_be_captured(store->getValueOperand());
      if (const auto* copy = dyn_cast<MemTransferInst>(user))
        return !copy->isVolatile() && is_copy_of_whole(*copy);
      const auto* const step = dyn_cast<GetElementPtrInst>(user);
      return step != nullptr && part_at(step).has_value() && is_seen(*step);
    });
  }

  void add_members(AllocaInst& variable) {
    IRBuilder<> builder(&variable);
    for (Type* type : cast<StructType>(variable.getAllocatedType())->elements())
      members_[&variable].push_back(builder.CreateAlloca(type));
  }

  // From the address on, to the members' own variables.
  void redirect(Instruction& address) {
    superfluous_.insert(&address);
    for (Use& use : make_early_inc_range(address.uses())) {
      auto* const user = cast<Instruction>(use.getUser());
      if (isa<GetElementPtrInst>(user)) {
        redirect(*user);
      } else if (auto* copy = dyn_cast<MemTransferInst>(user)) {
        copy_members(*copy);
      } else if (isa<LoadInst>(user) || isa<StoreInst>(user)) {
        const std::optional<Part> part = part_at(&address);
        use.set(members_[part->variable][part->member]);
      } else {
        superfluous_.insert(user);
      }
    }
  }

  void copy_members(MemTransferInst& copy) {
    if (!superfluous_.insert(&copy)) return;
    const auto& from = members_[cast<AllocaInst>(copy.getRawSource())];
    const auto& to = members_[cast<AllocaInst>(copy.getRawDest())];
    IRBuilder<> builder(&copy);
    for (unsigned i = 0; i < from.size(); ++i)
      builder.CreateStore(builder.CreateLoad(from[i]->getAllocatedType(), from[i]), to[i]);
  }

  const DataLayout& layout_;
  SmallSetVector<AllocaInst*, 8> found_;
  DenseMap<const AllocaInst*, SmallVector<AllocaInst*, 4>> members_;
  SmallSetVector<Instruction*, 16> superfluous_;
};

}  // namespace

bool waits_with_predicate(const Function& function) { return Waits().are_used_by(function); }

void embed_predicates(Module& module) {
  Waits waits;
  for (Function& function : module) {
    if (function.isDeclaration() || is_library_function(function) || !waits.become_part_of(function))
      continue;
    promote_variables(function);
    Closures(function).split();
    promote_variables(function);
  }
  waits.remove_unused();
}

}  // namespace heddle
