// Calls of functions of the C library that read or write memory of the program.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

namespace heddle {

// The function of the runtime that does the same and checks it (runtime/libc_functions.h); null callee: the
// call is none of those.
llvm::FunctionCallee checked_libc_function(const llvm::CallBase& call, llvm::Module& module);

// The same, of code that tells its data flow: it calls some more differently.
llvm::FunctionCallee followed_library_function(const llvm::CallBase& call, llvm::Module& module);

// Whether it sends or receives something, and so may order threads whatever memory it uses.
bool may_order_threads(const llvm::CallBase& call);

}  // namespace heddle
