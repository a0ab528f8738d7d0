// The classes that a function takes pointers or references to, as its mangled name tells them.
#pragma once

#include <string>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace heddle {

// Of each parameter but the object of a member function: a class, qualified and without template arguments,
// or another type that is pointed to; "?" behind void*, empty: no pointer.
std::vector<std::string> parameter_classes(const llvm::Function& callee);

// The class of a member function, or the namespace of another one; empty: the name has one part only.
std::string scope_of(const llvm::Function& callee);

// What the argument of a call is declared to point to, the object of a member function included; empty: not
// known.
std::string class_of_argument(const llvm::CallBase& call, unsigned argument);

}  // namespace heddle
