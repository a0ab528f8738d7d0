#include "pass/libc_calls.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSwitch.h>

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

bool is_of_kind(const Type* type, char kind) {
  switch (kind) {
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

}  // namespace

bool may_order_threads(const CallBase& call) {
  const Function* const callee = call.getCalledFunction();
  return callee != nullptr && StringSwitch<bool>(callee->getName())
                                  .Cases("read", "__read_chk", "pread", "pread64", "readv", true)
                                  .Cases("write", "pwrite", "pwrite64", "writev", true)
                                  .Cases("recv", "__recv_chk", "recvfrom", "send", "sendto", true)
                                  .Cases("epoll_wait", "epoll_pwait", "poll", "__poll_chk", "ppoll", true)
                                  .Cases("select", "eventfd_write", "eventfd_read", true)
                                  .Cases("sendmsg", "recvmsg", "close", "shutdown", "flock", true)
                                  .Cases("kill", "pthread_kill", "sigwait", "sigwaitinfo", true)
                                  .Case("sigtimedwait", true)
                                  .Default(false);
}

FunctionCallee checked_libc_function(const CallBase& call, Module& module) {
  const Function* const callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic()) return {};
  const auto found = types_by_name().find(callee->getName());
  if (found == types_by_name().end() || !is_of_type(*callee->getFunctionType(), found->second)) return {};
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

}  // namespace heddle
