#include "pass/element_walks.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/class_names.h"
#include "pass/library_functions.h"
#include "pass/memory_paths.h"
#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

// The iterator of vectors and strings: a pointer in a class of its own.
constexpr StringRef kIterator = "__gnu_cxx::__normal_iterator::";

bool is_made_of_objects(const Type* type) {
  while (const auto* array = dyn_cast<ArrayType>(type)) type = array->getElementType();
  return isa<StructType>(type);
}

// Whether what it returns a reference or a pointer to is an object of the program, known by its class.
bool refers_to_object(const Function& callee) {
  const DISubprogram* const debug = callee.getSubprogram();
  if (debug == nullptr || debug->getType() == nullptr || debug->getType()->getTypeArray().size() == 0)
    return true;
  const DIType* type = debug->getType()->getTypeArray()[0];
  for (bool is_behind = false;;) {
    const auto* derived = dyn_cast_or_null<DIDerivedType>(type);
    if (derived == nullptr) break;
    switch (derived->getTag()) {
      case dwarf::DW_TAG_pointer_type:
      case dwarf::DW_TAG_reference_type:
      case dwarf::DW_TAG_rvalue_reference_type:
        if (is_behind) return false;
        is_behind = true;
        [[fallthrough]];
      default: type = derived->getBaseType();
    }
  }
  const auto* composite = dyn_cast_or_null<DICompositeType>(type);
  return composite != nullptr && !is_of_library(composite) && !ClassNames::class_of(composite).empty();
}

class Walk {
 public:
  explicit Walk(bool may_be_returned) : may_be_returned_(may_be_returned) {}

  bool follow(const CallBase& call) {
    pointers_.insert(&call);
    for (std::size_t i = 0, j = 0; i < pointers_.size() || j < holders_.size();) {
      const bool is_seen =
          i < pointers_.size() ? is_pointer_seen(*pointers_[i++]) : is_holder_seen(*holders_[j++]);
      if (!is_seen) return false;
    }
    // Nothing else gets into what is followed, or it would go by this container's name.
    return all_of(merged_, [&](const Value* value) { return pointers_.contains(value); });
  }

  ArrayRef<const Value*> pointers() const { return pointers_.getArrayRef(); }

 private:
  bool is_pointer_seen(const Value& pointer) {
    return all_of(pointer.uses(), [&](const Use& use) { return is_use_seen(use); });
  }

  bool is_use_seen(const Use& use) {
    const User* const user = use.getUser();
    if (isa<LoadInst>(user) || isa<ICmpInst>(user) || isa<DbgInfoIntrinsic>(user)) return true;
    if (isa<MemIntrinsic>(user)) return use.getOperandNo() < 2;
    if (const auto* store = dyn_cast<StoreInst>(user))
      return use.getOperandNo() == store->getPointerOperandIndex() || is_stored_in_iterator(*store);
    if (const auto* step = dyn_cast<GetElementPtrInst>(user)) {
      pointers_.insert(step);
      return use.getOperandNo() == 0 && !is_made_of_objects(step->getSourceElementType());
    }
    if (const auto* merge = dyn_cast<PHINode>(user)) {
      pointers_.insert(merge);
      merged_.append(merge->value_op_begin(), merge->value_op_end());
      return true;
    }
    if (const auto* choice = dyn_cast<SelectInst>(user)) {
      pointers_.insert(choice);
      merged_.push_back(choice->getTrueValue());
      merged_.push_back(choice->getFalseValue());
      return true;
    }
    if (isa<ReturnInst>(user)) return may_be_returned_;
    if (isa<PtrToIntInst>(user))  // for a distance
      return all_of(user->users(), [](const User* one) {
        const auto* operation = dyn_cast<BinaryOperator>(one);
        return operation != nullptr && operation->getOpcode() == Instruction::Sub;
      });
    const auto* call = dyn_cast<CallBase>(user);
    if (call == nullptr || !call->isArgOperand(&use)) return false;
    if (returns_what_it_is_given(*call)) {
      pointers_.insert(call);
      return true;
    }
    return keeps_nothing_of(*call) || (call->getArgOperandNo(&use) == 1 && makes_of_value(*call));
  }

  static bool returns_what_it_is_given(const CallBase& call) {
    const Function* const callee = call.getCalledFunction();
    return callee != nullptr && callee->getName().starts_with("_ZSt") &&
           passes_through(name_of(*callee).qualified);
  }

  // Whether another object gets the element's value, as in `Task task = std::move(tasks.front())`.
  static bool makes_of_value(const CallBase& call) {
    const Function* const callee = call.getCalledFunction();
    return callee != nullptr && callee->getName().starts_with("_ZNSt") && takes_value(*callee);
  }

  // Whether the call ends what it does with the pointers that it is given, and returns none of them.
  static bool keeps_nothing_of(const CallBase& call) {
    const Function* const callee = call.getCalledFunction();
    if (callee == nullptr || (call.getType()->isPointerTy() && !call.use_empty())) return false;
    if (call.getType()->isStructTy() || call.hasStructRetAttr()) return false;
    if (callee->isDeclaration() && is_harmless(*callee)) return !starts_thread(callee->getName());
    if (!callee->getName().starts_with("_ZSt")) return false;  // a free function
    return keeps_nothing(name_of(*callee).qualified);
  }

  bool is_stored_in_iterator(const StoreInst& store) {
    const Value* const place = store.getPointerOperand()->stripInBoundsOffsets();
    const auto* holder = dyn_cast<AllocaInst>(place);
    const auto* type = holder == nullptr ? nullptr : dyn_cast<StructType>(holder->getAllocatedType());
    if (type == nullptr || !type->hasName() || !type->getName().contains("__gnu_cxx::__normal_iterator"))
      return false;
    holders_.insert(holder);
    return true;
  }

  // A local iterator, or the pointer in it.
  bool is_holder_seen(const Value& holder) {
    return all_of(holder.uses(), [&](const Use& use) {
      const User* const user = use.getUser();
      if (const auto* call = dyn_cast<CallBase>(user)) return is_iterator_call_seen(*call);
      if (const auto* load = dyn_cast<LoadInst>(user)) {
        pointers_.insert(load);
        return true;
      }
      if (const auto* store = dyn_cast<StoreInst>(user)) {
        merged_.push_back(store->getValueOperand());
        return use.getOperandNo() == store->getPointerOperandIndex();
      }
      const auto* part = dyn_cast<GetElementPtrInst>(user);
      if (part == nullptr || !part->hasAllZeroIndices()) return false;
      holders_.insert(part);
      return true;
    });
  }

  bool is_iterator_call_seen(const CallBase& call) {
    if (call.isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(call)) return true;
    const Function* const callee = call.getCalledFunction();
    if (callee == nullptr) return false;
    // Comparisons and distances, whose constraints not every demangler understands.
    const StringRef symbol = callee->getName();
    if (!call.getType()->isPointerTy())
      return symbol.starts_with("_ZN9__gnu_cxx") && !call.hasStructRetAttr();
    const std::string name = symbol.starts_with("_Z") ? name_of(*callee).qualified : "";
    if (!StringRef(name).starts_with(kIterator)) return false;
    const StringRef function = StringRef(name).drop_front(kIterator.size());
    const bool gives_element =
        StringSwitch<bool>(function)
            .Cases("operator*", "operator->", "operator[]", "operator+", "operator-", true)
            .Default(false);
    if (!gives_element) return call.use_empty();  // it returns the iterator itself
    pointers_.insert(&call);
    return !refers_to_object(*callee);
  }

  bool may_be_returned_;
  SmallSetVector<const Value*, 8> pointers_;
  SmallSetVector<const Value*, 4> holders_;
  SmallVector<const Value*> merged_;  // what is put together with them
};

}  // namespace

std::optional<SmallVector<const Value*>> followed_elements(const CallBase& call, bool may_be_returned) {
  if (call.getCalledFunction() == nullptr || refers_to_object(*call.getCalledFunction())) return std::nullopt;
  Walk walk(may_be_returned);
  if (!walk.follow(call)) return std::nullopt;
  return SmallVector<const Value*>(walk.pointers());
}

}  // namespace heddle
