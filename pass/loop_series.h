// Accesses that a loop makes in every round, at addresses a fixed distance apart or at the same one: they are
// checked at once before the loop.
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

// Has accesses checked before the loops in which each round makes them at the same address, as where a loop
// writes what to the compiler may be a part of anything, and so reads a pointer again.
void take_out_of_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                       llvm::SmallVectorImpl<Access>& accesses);

}  // namespace heddle
