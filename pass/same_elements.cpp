#include "pass/same_elements.h"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/library_functions.h"
#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

// What the number is: a value that is made once before it is used, or what a variable keeps that is set once;
// or the lower or the higher of what two such variables keep.
struct Index {
  enum class Kind : uint8_t { kUnknown, kValue, kLower, kHigher };
  Kind kind = Kind::kUnknown;
  const Value* one = nullptr;
  const Value* other = nullptr;
  unsigned conversion = 0;  // of the number to that of elements; 0: none

  bool is_same(const Index& index) const {
    return kind == Kind::kValue && index.kind == Kind::kValue && one == index.one &&
           conversion == index.conversion;
  }
  bool is_bound_of(Kind which, const Index& index) const {
    return kind == which && conversion == index.conversion && (one == index.one || other == index.one);
  }
  bool has_same_variables(const Index& index) const {
    return (one == index.one && other == index.other) || (one == index.other && other == index.one);
  }
};

std::string library_name(const CallBase& call) {
  const Function* const callee = call.getCalledFunction();
  if (callee == nullptr || !callee->getName().starts_with("_Z") || !is_library_function(*callee)) return "";
  return name_of(*callee).qualified;
}

bool is_bound(const CallBase& call) {
  const std::string name = library_name(call);
  return (name == "std::min" || name == "std::max") && call.arg_size() == 2 && call.getType()->isPointerTy();
}

// A variable that is set once, where the function begins, and of which others only ask the lower or the
// higher of two.
bool is_set_once(const Value* place) {
  const auto* const variable = dyn_cast<AllocaInst>(place);
  if (variable == nullptr || !variable->isStaticAlloca() || !variable->getAllocatedType()->isIntegerTy())
    return false;
  unsigned stores = 0;
  for (const Use& use : variable->uses()) {
    const User* const user = use.getUser();
    if (isa<LoadInst>(user) || isa<DbgInfoIntrinsic>(user)) continue;
    if (const auto* store = dyn_cast<StoreInst>(user)) {
      const bool is_set = use.getOperandNo() == StoreInst::getPointerOperandIndex() &&
                          isa<Argument>(store->getValueOperand()) &&
                          store->getParent() == &store->getFunction()->getEntryBlock();
      if (!is_set || ++stores > 1) return false;
      continue;
    }
    const auto* const call = dyn_cast<CallBase>(user);
    if (call == nullptr) return false;
    if (call->isLifetimeStartOrEnd()) continue;
    const bool only_reads =
        is_bound(*call) && all_of(call->users(), [](const User* one) { return isa<LoadInst>(one); });
    if (!only_reads) return false;
  }
  return stores == 1;
}

Index index_of(const Value* number) {
  if (const auto* cast = dyn_cast<CastInst>(number); cast != nullptr && !isa<CastInst>(cast->getOperand(0))) {
    Index index = index_of(cast->getOperand(0));
    index.conversion = cast->getOpcode();
    return index;
  }
  const auto* const load = dyn_cast<LoadInst>(number);
  if (load == nullptr) return {Index::Kind::kValue, number};
  if (load->isVolatile() || load->isAtomic()) return {};
  if (is_set_once(load->getPointerOperand())) return {Index::Kind::kValue, load->getPointerOperand()};
  const auto* const bound = dyn_cast<CallBase>(load->getPointerOperand());
  if (bound == nullptr || !is_bound(*bound)) return {Index::Kind::kValue, number};
  const Value* const one = bound->getArgOperand(0);
  const Value* const other = bound->getArgOperand(1);
  if (!is_set_once(one) || !is_set_once(other)) return {};
  return {library_name(*bound) == "std::min" ? Index::Kind::kLower : Index::Kind::kHigher, one, other};
}

bool gives_element(const CallBase& call) {
  const std::string name = library_name(call);
  return (name == "std::vector::operator[]" || name == "std::vector::at" ||
          name == "std::array::operator[]" || name == "std::array::at") &&
         call.arg_size() == 2 && call.getType()->isPointerTy();
}

}  // namespace

SameElements::SameElements(const Function& function) {
  SmallVector<std::pair<const CallBase*, Index>> found;
  for (const Instruction& instruction : instructions(function))
    if (const auto* call = dyn_cast<CallBase>(&instruction); call != nullptr && gives_element(*call))
      found.emplace_back(call, index_of(call->getArgOperand(1)));
  if (found.empty()) return;
  const DominatorTree dominators(const_cast<Function&>(function));
  for (const auto& [call, index] : found) {
    SmallVector<const CallBase*, 2>& earlier = elements_[call];
    for (const auto& [other, its] : found) {
      if (other == call || !dominators.dominates(other, call)) continue;
      if (index.is_same(its)) {
        earlier = {other};
        break;
      }
      if (!earlier.empty() || index.kind != Index::Kind::kValue) continue;
      for (const auto& [third, last] : found)
        if (its.is_bound_of(Index::Kind::kLower, index) && last.is_bound_of(Index::Kind::kHigher, index) &&
            its.has_same_variables(last) && dominators.dominates(third, call))
          earlier = {other, third};
    }
  }
}

ArrayRef<const CallBase*> SameElements::earlier(const CallBase& call) const {
  const auto known = elements_.find(&call);
  return known == elements_.end() ? ArrayRef<const CallBase*>() : ArrayRef<const CallBase*>(known->second);
}

}  // namespace heddle
