#include "pass/libc_calls.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>

#include "runtime/libc_functions.h"

namespace heddle {

using namespace llvm;

namespace {

const StringMap<StringRef>& types_by_name() {
#define HEDDLE_NAME_AND_TYPE(name, type) {#name, type},
  static const StringMap<StringRef> table = {HEDDLE_LIBC_FUNCTIONS(HEDDLE_NAME_AND_TYPE)};
#undef HEDDLE_NAME_AND_TYPE
  return table;
}

// What code that tells its data flow calls differently besides.
const StringMap<StringRef>& followed_types_by_name() {
#define HEDDLE_NAME_AND_TYPE(name, type) {#name, type},
  static const StringMap<StringRef> table = {HEDDLE_FOLLOWED_LIBC(HEDDLE_NAME_AND_TYPE)};
#undef HEDDLE_NAME_AND_TYPE
  return table;
}

bool is_of_kind(const Type* type, char kind) {
  switch (kind) {
    case 'b': return type->isIntegerTy(1);
    case 'i': return type->isIntegerTy(32);
    case 'l': return type->isIntegerTy(64);
    case 'd': return type->isDoubleTy();
    case 'f': return type->isFloatTy();
    case 'p': return type->isPointerTy();
    case 'v': return type->isVoidTy();
    default: return false;
  }
}

bool is_of_type(const FunctionType& function, StringRef type) {
  if (function.isVarArg() != type.consume_back(".")) return false;
  if (type.size() != function.getNumParams() + 1 || !is_of_kind(function.getReturnType(), type[0]))
    return false;
  for (unsigned i = 0; i < function.getNumParams(); ++i)
    if (!is_of_kind(function.getParamType(i), type[i + 1])) return false;
  return true;
}

// The function of the runtime that does what the called one does; none: it is not in the table.
FunctionCallee in_table(const StringMap<StringRef>& table, const CallBase& call, Module& module) {
  const Function* const callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic()) return {};
  const auto found = table.find(callee->getName());
  if (found == table.end() || !is_of_type(*callee->getFunctionType(), found->second)) return {};
  FunctionCallee checked = module.getOrInsertFunction((Twine("heddle_libc_") + callee->getName()).str(),
                                                      callee->getFunctionType());
  // What the call does to its arguments, not what it leaves untouched: checking changes the thread's state.
  if (auto* function = dyn_cast<Function>(checked.getCallee()); function != nullptr) {
    AttributeList attributes;
    for (unsigned i = 0; i < function->arg_size(); ++i)
      attributes = attributes.addParamAttributes(
          module.getContext(), i, AttrBuilder(module.getContext(), callee->getAttributes().getParamAttrs(i)));
    function->setAttributes(attributes);
  }
  return checked;
}

}  // namespace

bool may_order_threads(const CallBase& call) {
#define HEDDLE_NAME(name, type) #name,
  static const StringSet<> ordering = {HEDDLE_LIBC_MESSAGES(HEDDLE_NAME) HEDDLE_LIBC_ORDERING(HEDDLE_NAME)};
#undef HEDDLE_NAME
  const Function* const callee = call.getCalledFunction();
  return callee != nullptr && ordering.contains(callee->getName());
}

FunctionCallee checked_libc_function(const CallBase& call, Module& module) {
  return in_table(types_by_name(), call, module);
}

FunctionCallee followed_library_function(const CallBase& call, Module& module) {
  FunctionCallee checked = checked_libc_function(call, module);
  return checked.getCallee() != nullptr ? checked : in_table(followed_types_by_name(), call, module);
}

}  // namespace heddle
