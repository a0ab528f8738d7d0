// Which accesses of a function are to be checked: not those that nobody else can see, nor those that another
// one makes superfluous.
#pragma once

#include <cstdint>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instruction.h>

#include "pass/access_names.h"
#include "pass/focus_pass.h"

namespace heddle {

// One access that is to be checked.
struct Access {
  llvm::Instruction* instruction;
  llvm::Value* address;
  uint64_t size;
  uint64_t alignment;
  bool writes;
  const llvm::SCEV* base;               // another address, the same for all that lie a known distance apart
  int64_t offset;                       // from there to the first byte checked
  int64_t address_offset;               // from there to `address`
  std::string name;                     // in the source; empty: unknown
  llvm::Instruction* before = nullptr;  // where it is checked; null: where it is

  llvm::Instruction* checked_at() const { return before == nullptr ? instruction : before; }
  int64_t end() const { return offset + static_cast<int64_t>(size); }
};

// Whether others may see what lies there.
bool may_be_shared(llvm::Value* address);

// Whether the memory is a local variable, or was made by the function, and nobody has been given a pointer to
// it on any way there: what a focused build leaves out for whole objects (`exempt`), for what the optimizer
// made of it.
bool is_still_own(const llvm::Instruction& instruction, llvm::Value* address,
                  const llvm::DominatorTree& dominators);

// Whether the thread may learn from others in it, or not come past it: what stands before and behind is not
// checked as one.
bool ends_stretch(const llvm::Instruction& instruction);

// The accesses of a block, without those that another one of the same stretch makes superfluous, and those
// side by side made one.
llvm::SmallVector<Access> stretch_accesses(llvm::BasicBlock& block, llvm::ScalarEvolution& evolution,
                                           const llvm::DominatorTree& dominators, const AccessNames& names,
                                           const FocusSpots& focus);

}  // namespace heddle
