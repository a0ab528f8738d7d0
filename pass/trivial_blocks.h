// Blocks that do at most one thing that others could see: accessors that return a reference, or read a
// member. Nothing can come between one access and itself, so that whether it is in a block makes no
// difference, and nobody need be told. After optimization many blocks are of that kind, one after the other
// in the same place.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace heddle {

// Takes the marks of such blocks away. Before accesses are instrumented.
void remove_trivial_blocks(llvm::Function& function);

}  // namespace heddle
