// What a function does that matters to threads, as src/types/program.h has it; and which instruction does it.
#pragma once

#include <string>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>

#include "pass/class_names.h"

namespace heddle {

struct SummaryOperation {
  const char* kind;                    // the word of src/types/summary_text.cpp
  std::string path;                    // with a callee: what comes behind it
  std::string callee;                  // of calls, passes and whole objects
  std::vector<std::string> arguments;  // of calls
  const llvm::Instruction* instruction = nullptr;
  bool is_of_library = false;          // the library does it, for this call
  const llvm::Value* mutex = nullptr;  // of acquisitions
  bool has_callee() const { return !callee.empty() || std::string_view(kind) == "call"; }
};

struct SummaryBlock {
  std::vector<SummaryOperation> operations;
  std::vector<unsigned> next;
};

struct FunctionSummary {
  std::vector<SummaryBlock> blocks;
};

// A function of the program. `reaching`: functions of the library in this module that may call back.
FunctionSummary summarize(const llvm::Function& function, const ClassNames& classes,
                          const llvm::SmallPtrSetImpl<const llvm::Function*>& reaching);

// A function of the library: only whom it calls, and that it starts threads.
FunctionSummary summarize_library(const llvm::Function& function,
                                  const llvm::SmallPtrSetImpl<const llvm::Function*>& reaching);

// The functions of the library that call the program, call through pointers or start threads, directly or
// not.
void find_reaching(const llvm::Module& module, llvm::SmallPtrSetImpl<const llvm::Function*>& reaching);

// A symbol that no other function of the program has: those that only their file knows are told apart by it.
std::string unique_symbol(const llvm::Function& function);
// "void(ptr,i32)"
std::string signature_of(const llvm::FunctionType& type);
// Local variables whose address nobody needs become values, so that paths do not lead through them.
void promote_variables(llvm::Function& function);

}  // namespace heddle
