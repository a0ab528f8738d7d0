// What functions that are not compiled with labels do to them.
#pragma once

#include <llvm/IR/InstrTypes.h>

#include <cstdint>

namespace heddle {

enum class FlowOfCall {
  kUnknown,   // may be compiled with labels, or not: the runtime finds out
  kConstant,  // the result depends on nothing: memory that is new
  kComputes,  // the result depends on the arguments, and nothing else happens
};

FlowOfCall flow_of_call(const llvm::CallBase& call);

// Of runtime::FlowCallKind: what is known of a function that may be without labels.
uint32_t kind_of_call(const llvm::CallBase& call);

}  // namespace heddle
