// Where in the source to say that an access was. Optimizations that move accesses out of loops, or make one
// of several, leave them at no place. What they load is used somewhere, though, and what they store comes
// from somewhere.
#pragma once

#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Instruction.h>

namespace heddle {

llvm::DebugLoc source_place(const llvm::Instruction& access);

}  // namespace heddle
