// What lies at the beginning of a global variable.
//
// A step to the first member of an object leads nowhere else than the object is, and where the object is a
// global variable LLVM leaves it out as soon as clang makes it: `registry.first_ = 1` and
// `registry.table_[i] = 1` are stores to @registry, and `registry.lock_.lock()` is a call with it. Summaries
// name memory by the steps that lead there (pass/memory_paths.h), so in the copy that they are made of the
// steps are put back. What uses the variable says how far: the type that is accessed or stepped into, the
// class of the function that is called. Where nothing says so, all that begins there counts as given away.
#pragma once

#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "pass/class_names.h"

namespace heddle {

// Makes each step to a first member an instruction again.
void name_first_members(llvm::Module& module, const ClassNames& classes);

// What the pointer points to, if it leads into a global variable by steps alone; null: it does not.
llvm::Type* type_in_global(const llvm::Value* pointer);

// What the user of an operand may mean as well.
struct FirstMembers {
  std::vector<std::string> steps;    // to each member that begins there, too: "/Registry::first_", …
  std::vector<std::string> classes;  // of which it may be any part: it is not known which
};
// Nothing: the operand is no part of a global variable, or its user tells what it means.
FirstMembers first_members(const llvm::Use& operand, const ClassNames& classes,
                           const llvm::DataLayout& layout);

}  // namespace heddle
