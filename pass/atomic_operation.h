// An atomic operation of the program, as the runtime is told of it (runtime/atomics.h).
#pragma once

#include <optional>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instruction.h>

namespace heddle {

struct AtomicOperation {
  llvm::Instruction* instruction;
  llvm::Value* address;
  llvm::Type* type;  // of what is read or written

  // What it did and in which order, as the builder's code finds it behind the instruction.
  struct Outcome {
    llvm::Value* kind;
    llvm::Value* order;
  };
  Outcome outcome(llvm::IRBuilder<>& builder) const;
};

// None for a fence, and for what is no atomic operation.
std::optional<AtomicOperation> atomic_operation(llvm::Instruction& instruction);

uint32_t meaning_of(llvm::AtomicOrdering order);

}  // namespace heddle
