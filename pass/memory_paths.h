// How a function reaches memory, in the language of src/types/path.h: "p0/Account::mu_".
//
// Works on a function whose local variables have been made values (mem2reg) and that is otherwise as clang
// made it: a step to a member is still a step of its own, also to the first.
#pragma once

#include <set>
#include <string>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "pass/class_names.h"

namespace heddle {

class MemoryPaths {
 public:
  // Of a getter callers know what it returns (path_returned).
  MemoryPaths(const llvm::Function& function, const ClassNames& classes, bool is_getter = false);

  // Where the pointer leads; "?": somewhere, empty: nowhere that matters (null, a function, a constant).
  std::string of(const llvm::Value* pointer);

  // Whether it leads to elements of a container, and all that becomes of it is seen (pass/element_walks.h).
  bool is_followed(const llvm::Value* pointer) const { return elements_.contains(pointer); }

  // Whether the function has a way to the elements of the container at the path.
  bool has_elements_of(const std::string& container) const;

  // The root that this instruction's value is, if a path asked for it; empty: none.
  std::string root_at(const llvm::Instruction& instruction) const;

  // The program's class that it points to; empty: none of the program's, "?": not known.
  std::string class_of(const llvm::Value* pointer) const;

 private:
  std::string find(const llvm::Value* pointer, unsigned depth);
  std::string of_element(const llvm::GEPOperator& element, unsigned depth);
  std::string of_call(const llvm::CallBase& call, unsigned depth);
  std::string of_getter(const llvm::CallBase& call, const llvm::Function& callee, unsigned depth);
  std::string of_walk(const llvm::PHINode& merged, unsigned depth);
  std::string root(char kind, const llvm::Value* value);
  bool is_certain(const llvm::Value* address) const;

  const llvm::Function& function_;
  const ClassNames& classes_;
  const llvm::DataLayout& layout_;
  bool is_getter_;  // what it returns is its callers' to follow
  llvm::DenseMap<const llvm::Value*, std::string> known_;
  llvm::DenseMap<const llvm::Value*, std::string> elements_;  // what is followed from a container
  std::set<std::string> with_elements_;  // containers that a way to elements was asked of
  llvm::DenseMap<const llvm::Value*, std::string> roots_;
};

// What a function of one block returns a reference to, seen from its parameters, if everybody who calls it
// can see that; empty: it is no such function.
std::string path_returned(const llvm::Function& function, const ClassNames& classes);

// The source's name of a global variable, as a root.
std::string root_of_global(const llvm::GlobalVariable& variable);

// Functions of the library that return a reference to what the object keeps: "[]" for elements, "*" for what
// a smart pointer points to; empty: none. `name` is qualified.
std::string step_of_result(llvm::StringRef name);
// Functions of the library that return what they are given.
bool passes_through(llvm::StringRef name);

}  // namespace heddle
