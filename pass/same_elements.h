// Which elements of a container are the same, by the numbers they are asked for by.
//
//   accounts_[i].lock(); accounts_[i].add(1);        the same number: the same element
//   accounts_[std::min(a, b)], accounts_[std::max(a, b)], accounts_[a]      the third is one of the others
//
// That is so as long as the container keeps its elements, which src/types/held_locks.h sees to.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace heddle {

class SameElements {
 public:
  explicit SameElements(const llvm::Function& function);

  // Whether the call gives a reference to the element of a given number of a vector or array.
  bool is_element(const llvm::CallBase& call) const { return elements_.contains(&call); }

  // Calls that come before it on every way and one of which gave the same element, if they were made of the
  // same container; empty: none that are known.
  llvm::ArrayRef<const llvm::CallBase*> earlier(const llvm::CallBase& call) const;

 private:
  llvm::DenseMap<const llvm::CallBase*, llvm::SmallVector<const llvm::CallBase*, 2>> elements_;
};

}  // namespace heddle
