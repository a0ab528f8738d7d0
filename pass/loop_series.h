// Accesses that a loop makes in every round, at addresses a fixed distance apart: they are checked at once
// before the loop.
#pragma once

#include <cstdint>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

#include "pass/stretch_accesses.h"

namespace heddle {

// What one access does in all rounds of a loop.
struct Series {
  Access access;
  llvm::Instruction* before;  // where it is to be checked
  llvm::Value* start;         // the first address
  llvm::Value* count;         // of rounds; may be none
  int64_t step;               // in bytes
};

// Takes those out of `accesses` that are part of a series, puts what computes start and count before the
// loop, and calls `check` for each.
void take_series(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                 llvm::SmallVectorImpl<Access>& accesses, llvm::function_ref<void(const Series&)> check);

}  // namespace heddle
