// Pointers and iterators to the elements of a container, from the call that returns the first of them
// (operator[], data, begin, …) to the accesses made through them.
#pragma once

#include <optional>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstrTypes.h>

namespace heddle {

// Everything that leads to elements because the call returned what it did, if none of it goes anywhere but
// into accesses, comparisons, and functions of the libraries that keep nothing; nothing: some of it may get
// out of sight. `may_be_returned`: callers see what the function returns.
std::optional<llvm::SmallVector<const llvm::Value*>> followed_elements(const llvm::CallBase& call,
                                                                       bool may_be_returned);

}  // namespace heddle
