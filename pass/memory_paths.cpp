#include "pass/memory_paths.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "pass/element_walks.h"
#include "pass/library_functions.h"
#include "pass/places.h"
#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

constexpr unsigned kDeepest = 24;

bool makes_object(const Function& callee) {
  return StringSwitch<bool>(callee.getName())
      .Cases("_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", true)
      .Cases("_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "malloc", "calloc", "aligned_alloc", true)
      .Default(false);
}

// Whether nobody gets the address of the thread's variable: it is only read and written, and here alone.
bool is_known_here(const GlobalVariable& variable) {
  if (!variable.hasLocalLinkage()) return false;
  SmallVector<const Value*> pointers = {&variable};
  while (!pointers.empty()) {
    const Value* const pointer = pointers.pop_back_val();
    for (const Use& use : pointer->uses()) {
      const User* const user = use.getUser();
      if (isa<LoadInst>(user) || isa<DbgInfoIntrinsic>(user)) continue;
      if (isa<StoreInst>(user) && use.getOperandNo() == StoreInst::getPointerOperandIndex()) continue;
      const auto* const call = dyn_cast<IntrinsicInst>(user);
      const bool is_same = (call != nullptr && call->getIntrinsicID() == Intrinsic::threadlocal_address) ||
                           isa<GEPOperator>(user);
      if (!is_same) return false;
      pointers.push_back(user);
    }
  }
  return true;
}

// Whether it leads to a member or a global variable.
bool is_named(StringRef path) { return path.contains('/') || path.starts_with("g:"); }

bool is_made_of_objects(const Type* type) {
  while (const auto* array = dyn_cast<ArrayType>(type)) type = array->getElementType();
  return isa<StructType>(type);
}

}  // namespace

std::string root_of_global(const GlobalVariable& variable) { return "g:" + name_of(variable); }

std::string step_of_result(StringRef name) {
  if (!is_of_library(name)) return "";
  const StringRef function = name.substr(name.rfind("::") + 2);
  const StringRef of = name.drop_back(function.size() + 2);
  const bool is_pointer = of == "std::unique_ptr" || of == "std::shared_ptr" || of == "std::__shared_ptr" ||
                          of == "std::__shared_ptr_access";
  if (is_pointer && (function == "operator*" || function == "operator->" || function == "get")) return "*";
  // It keeps its one element within itself.
  if (of == "std::optional" && (function == "operator*" || function == "operator->" || function == "value"))
    return "[]";
  const bool is_container = of == "std::vector" || of == "std::array" || of == "std::deque" ||
                            of == "std::map" || of == "std::unordered_map" || of == "std::queue" ||
                            of == "std::stack" || of == "std::__cxx11::list" ||
                            of == "std::__cxx11::basic_string" || of == "std::list" ||
                            of == "std::basic_string" || of == "std::priority_queue";
  if (is_container && (function == "operator[]" || function == "at" || function == "front" ||
                       function == "back" || function == "top"))
    return "[]";
  // Their iterators are pointers (pass/element_walks.h).
  const bool is_array = of == "std::vector" || of == "std::array" || of == "std::__cxx11::basic_string" ||
                        of == "std::basic_string";
  if (is_array && (function == "begin" || function == "end" || function == "cbegin" || function == "cend" ||
                   function == "data" || function == "c_str"))
    return "[]";
  return "";
}

bool passes_through(StringRef name) {
  return name == "std::move" || name == "std::forward" || name == "std::addressof" ||
         name == "std::__addressof" || name == "std::launder" || name == "std::as_const";
}

MemoryPaths::MemoryPaths(const Function& function, const ClassNames& classes, bool is_getter)
    : function_(function),
      classes_(classes),
      layout_(function.getParent()->getDataLayout()),
      is_getter_(is_getter) {
  // First of all: what is merged with elements is asked for before the call that the elements come from.
  for (const Instruction& instruction : instructions(function)) {
    const auto* const call = dyn_cast<CallBase>(&instruction);
    const Function* const callee = call == nullptr ? nullptr : call->getCalledFunction();
    if (callee == nullptr || !call->getType()->isPointerTy() || !callee->getName().starts_with("_ZN"))
      continue;
    if (step_of_result(name_of(*callee).qualified) == "[]") of(call);
  }
}

std::string MemoryPaths::root(char kind, const Value* value) {
  std::string& known = roots_[value];
  if (known.empty()) known = kind + std::to_string(roots_.size());
  return known;
}

bool MemoryPaths::has_elements_of(const std::string& container) const {
  return with_elements_.contains(container);
}

std::string MemoryPaths::root_at(const Instruction& instruction) const {
  const auto found = roots_.find(&instruction);
  return found == roots_.end() ? "" : found->second;
}

std::string MemoryPaths::of(const Value* pointer) {
  if (const auto found = known_.find(pointer); found != known_.end()) return found->second;
  std::string path = find(pointer, 0);
  known_[pointer] = path;
  return path;
}

std::string MemoryPaths::of_element(const GEPOperator& element, unsigned depth) {
  std::string path = find(element.getPointerOperand(), depth + 1);
  if (path.empty() || path == "?") return path;
  Type* const source = element.getSourceElementType();
  if (source->isIntegerTy(8)) {
    // To a base class, or within bytes: the members that follow are named by their class.
    if (element.hasAllConstantIndices()) return path;
    return is_named(path) ? path : root('v', &element);
  }
  for (auto step = gep_type_begin(element); step != gep_type_end(element); ++step) {
    const auto* index = dyn_cast<ConstantInt>(step.getOperand());
    if (StructType* type = step.getStructTypeOrNull()) {
      if (ClassNames::is_library(*type) || !type->hasName()) return path;
      const std::string member =
          classes_.member_of(*type, static_cast<unsigned>(index->getZExtValue()), layout_);
      if (member.empty()) return "?";
      path += "/" + member;
      continue;
    }
    const bool is_first = step == gep_type_begin(element);
    if (is_first && index != nullptr && index->isZero()) continue;
    // Elements that are no objects of their own are one with what has them; others are known by their class.
    Type* const inner = is_first ? source : step.getIndexedType();
    const bool is_object = is_made_of_objects(inner);
    if (is_object || !is_named(path)) path = root('v', &element);
  }
  return path;
}

// Whether the path to the address leaves no choice: of an array it tells only that it is one of the elements,
// and a pointer in there is not the one in the next.
bool MemoryPaths::is_certain(const Value* address) const {
  for (unsigned depth = 0; depth < kDeepest; ++depth) {
    if (elements_.contains(address)) return true;  // a path with "[]" names no lock (HeldLocks::is_usable)
    if (const auto* variable = dyn_cast<GlobalVariable>(address))
      return !variable->getValueType()->isArrayTy();
    if (const auto* step = dyn_cast<GEPOperator>(address)) {
      if (step->getSourceElementType()->isIntegerTy(8) && !step->hasAllConstantIndices()) return false;
      for (auto part = gep_type_begin(step); part != gep_type_end(step); ++part) {
        const auto* const index = dyn_cast<ConstantInt>(part.getOperand());
        const bool is_same = part == gep_type_begin(step) && index != nullptr && index->isZero();
        if (part.getStructTypeOrNull() == nullptr && !is_same &&
            !step->getSourceElementType()->isIntegerTy(8))
          return false;
      }
      address = step->getPointerOperand();
      continue;
    }
    const auto* const call = dyn_cast<CallBase>(address);
    const Function* const callee = call == nullptr ? nullptr : call->getCalledFunction();
    if (callee == nullptr) return !isa<PHINode>(address);
    if (isa<IntrinsicInst>(call) || passes_through(name_of(*callee).qualified)) {
      if (call->arg_empty()) return true;
      address = call->getArgOperand(0);
      continue;
    }
    // A function that returns a reference to a member of its object.
    if (callee->isDeclaration() || callee->size() != 1) return true;
    const auto* const leaving = dyn_cast<ReturnInst>(callee->getEntryBlock().getTerminator());
    if (leaving == nullptr || leaving->getReturnValue() == nullptr) return true;
    address = leaving->getReturnValue();
  }
  return false;
}

std::string path_returned(const Function& function, const ClassNames& classes) {
  if (function.isDeclaration() || function.size() != 1 || !function.getReturnType()->isPointerTy()) return "";
  if (!function.hasLinkOnceODRLinkage() && !function.hasLocalLinkage()) return "";
  const auto* const leaving = dyn_cast<ReturnInst>(function.getEntryBlock().getTerminator());
  if (leaving == nullptr || leaving->getReturnValue() == nullptr) return "";
  std::string path = MemoryPaths(function, classes, true).of(leaving->getReturnValue());
  return path.starts_with("p") && path.find('/') != std::string::npos ? path : "";
}

// A function that returns a reference to a member, as `std::mutex& mutex() { return mutex_; }`: the caller
// sees the member.
std::string MemoryPaths::of_getter(const CallBase& call, const Function& callee, unsigned depth) {
  if (depth + 4 >= kDeepest || &callee == &function_) return "";
  const std::string path = path_returned(callee, classes_);
  if (path.empty()) return "";
  const std::size_t slash = path.find('/');
  unsigned parameter = 0;
  if (StringRef(path).slice(1, slash).getAsInteger(10, parameter) || parameter >= call.arg_size()) return "";
  const std::string object = find(call.getArgOperand(parameter), depth + 4);
  return object.empty() || object == "?" ? "" : object + path.substr(slash);
}

std::string MemoryPaths::of_call(const CallBase& call, unsigned depth) {
  const Function* const callee = call.getCalledFunction();
  if (callee == nullptr) return root('v', &call);
  if (isa<IntrinsicInst>(call)) {
    if (call.arg_size() > 0 && call.getArgOperand(0)->getType()->isPointerTy())
      return find(call.getArgOperand(0), depth + 1);
    return root('v', &call);
  }
  if (makes_object(*callee)) return root('n', &call);
  if (!callee->getName().starts_with("_Z")) return root('v', &call);
  const std::string name = name_of(*callee).qualified;
  if (call.arg_size() > 0 && passes_through(name)) return find(call.getArgOperand(0), depth + 1);
  if (const std::string path = of_getter(call, *callee, depth); !path.empty()) return path;
  const std::string step = step_of_result(name);
  if (call.arg_size() == 0 || step.empty()) return root('v', &call);
  const std::string object = find(call.getArgOperand(0), depth + 1);
  if (object.empty() || object == "?") return root('v', &call);
  if (step == "*") {
    if (is_named(object) && is_certain(call.getArgOperand(0))) return object + "/*";
    const bool is_owned = is_of_owner(name) && (object.starts_with("l") || object.starts_with("p"));
    return is_owned ? object + "/^" : root('v', &call);
  }
  // Elements that are objects are told apart: one of them is not another.
  with_elements_.insert(object);
  const auto elements = followed_elements(call, is_getter_ && class_of(&call).empty());
  if (!elements) return root('v', &call);
  for (const Value* element : *elements) elements_[element] = object + "/[]";
  return object + "/[]";
}

std::string MemoryPaths::find(const Value* pointer, unsigned depth) {
  if (depth >= kDeepest) return "?";
  if (const auto found = elements_.find(pointer); found != elements_.end()) return found->second;
  if (!pointer->getType()->isPointerTy()) return "";
  if (isa<ConstantPointerNull>(pointer) || isa<Function>(pointer) || isa<UndefValue>(pointer)) return "";
  if (const auto* variable = dyn_cast<GlobalVariable>(pointer)) {
    if (variable->isConstant()) return "";
    if (variable->isThreadLocal()) return root(is_known_here(*variable) ? 'l' : 'v', variable);
    return root_of_global(*variable);
  }
  if (const auto* argument = dyn_cast<Argument>(pointer)) return "p" + std::to_string(argument->getArgNo());
  if (const auto* element = dyn_cast<GEPOperator>(pointer)) return of_element(*element, depth);
  if (isa<AllocaInst>(pointer)) return root('l', pointer);
  if (const auto* load = dyn_cast<LoadInst>(pointer)) {
    const std::string path = find(load->getPointerOperand(), depth + 1);
    // Pointers in members and globals may be known never to change; those elsewhere are taken as they come.
    if (is_named(path) && path.size() < 200 && is_certain(load->getPointerOperand())) return path + "/*";
    return root('v', load);
  }
  if (const auto* call = dyn_cast<CallBase>(pointer)) return of_call(*call, depth);
  if (const auto* merged = dyn_cast<PHINode>(pointer)) return of_walk(*merged, depth);
  if (isa<Instruction>(pointer)) return root('v', pointer);
  return "?";
}

// A pointer that walks over the elements of an array in a member stays in the member.
std::string MemoryPaths::of_walk(const PHINode& merged, unsigned depth) {
  std::string path;
  for (const Value* incoming : merged.incoming_values()) {
    const auto* const step = dyn_cast<GEPOperator>(incoming);
    if (step != nullptr && step->getPointerOperand() == &merged &&
        !is_made_of_objects(step->getSourceElementType()))
      continue;
    if (isa<PHINode>(incoming)) return root('v', &merged);
    const std::string from = find(incoming, depth + 1);
    if (from.find('/') == std::string::npos || from.ends_with("/*") || (!path.empty() && path != from))
      return root('v', &merged);
    path = from;
  }
  return path.empty() ? root('v', &merged) : path;
}

std::string MemoryPaths::class_of(const Value* pointer) const {
  if (const auto* memory = dyn_cast<AllocaInst>(pointer)) {
    if (const auto* type = dyn_cast<StructType>(memory->getAllocatedType()))
      return ClassNames::is_library(*type) || !type->hasName() ? "" : ClassNames::name_of(*type);
    return "";
  }
  if (const auto* element = dyn_cast<GEPOperator>(pointer)) {
    if (const auto* type = dyn_cast<StructType>(element->getResultElementType()))
      return ClassNames::is_library(*type) || !type->hasName() ? "" : ClassNames::name_of(*type);
    // So many bytes into something.
    return element->getSourceElementType()->isIntegerTy(8) ? class_of(element->getPointerOperand()) : "";
  }
  if (const auto* variable = dyn_cast<GlobalVariable>(pointer)) {
    SmallVector<DIGlobalVariableExpression*, 1> expressions;
    variable->getDebugInfo(expressions);
    if (!expressions.empty()) return ClassNames::class_of(expressions.front()->getVariable()->getType());
    const auto* type = dyn_cast<StructType>(variable->getValueType());
    return type != nullptr && type->hasName() ? ClassNames::name_of(*type) : "";
  }
  if (const auto* argument = dyn_cast<Argument>(pointer)) {
    if (argument->hasStructRetAttr()) {
      const auto* type = dyn_cast<StructType>(argument->getParamStructRetType());
      return type != nullptr && type->hasName() && !ClassNames::is_library(*type) ? ClassNames::name_of(*type)
                                                                                  : "";
    }
    const DISubprogram* const subprogram = function_.getSubprogram();
    if (subprogram == nullptr || subprogram->getType() == nullptr) return "?";
    const DITypeRefArray types = subprogram->getType()->getTypeArray();  // what it returns, then parameters
    const unsigned number = argument->getArgNo() + 1 - (function_.hasStructRetAttr() ? 1 : 0);
    // Objects in several registers make more arguments than parameters.
    if (types.size() != function_.arg_size() + 1 - (function_.hasStructRetAttr() ? 1 : 0) ||
        number >= types.size())
      return "?";
    return ClassNames::class_of(types[number]);
  }
  if (const auto* load = dyn_cast<LoadInst>(pointer)) {
    const Value* const from = load->getPointerOperand();
    if (const auto* variable = dyn_cast<GlobalVariable>(from)) return class_of(variable);
    const auto* element = dyn_cast<GEPOperator>(from);
    const auto* type = element == nullptr ? nullptr : dyn_cast<StructType>(element->getSourceElementType());
    if (type == nullptr || element->getNumIndices() != 2) return "?";
    const auto* index = dyn_cast<ConstantInt>(element->getOperand(2));
    if (index == nullptr) return "?";
    if (ClassNames::is_library(*type)) return "?";
    return classes_.class_behind(
        classes_.member_of(*type, static_cast<unsigned>(index->getZExtValue()), layout_));
  }
  if (const auto* call = dyn_cast<CallBase>(pointer)) {
    const Function* const callee = call->getCalledFunction();
    if (callee == nullptr) return "?";
    if (isa<IntrinsicInst>(call) && call->arg_size() > 0) return class_of(call->getArgOperand(0));
    const DISubprogram* const subprogram = callee->getSubprogram();
    if (subprogram == nullptr || subprogram->getType() == nullptr ||
        subprogram->getType()->getTypeArray().size() == 0)
      return "?";
    return ClassNames::class_of(subprogram->getType()->getTypeArray()[0]);
  }
  return "?";
}

}  // namespace heddle
