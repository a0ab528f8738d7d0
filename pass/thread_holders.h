// Local variables that keep threads, and where all of those threads have ended.
//
// A std::thread that has not been joined must not be destroyed: the program would be terminated. So past the
// destructor of a std::thread or std::jthread, or of a local container of them, none of its threads runs any
// more, provided that nobody has detached them or moved them elsewhere: nobody who sees the variable does
// anything with it but start threads, look at it, and join.
#pragma once

#include <string>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace heddle {

class ThreadHolders {
 public:
  explicit ThreadHolders(const llvm::Function& function);

  // The variable that keeps the threads that this call of the library starts; null: it is not known where
  // they end.
  const llvm::AllocaInst* keeper_of(const llvm::CallBase& call) const;
  // The variable all of whose threads have ended when the call returns; null: none.
  const llvm::AllocaInst* ended_by(const llvm::CallBase& call) const;
  // The same at the beginning of the block: a loop has joined them all.
  const llvm::AllocaInst* ended_before(const llvm::BasicBlock& block) const;

 private:
  bool is_holder(const llvm::AllocaInst& variable) const;
  void find_temporaries(const llvm::Function& function);
  void find_joining_loop(const llvm::CallBase& join);

  llvm::SmallPtrSet<const llvm::AllocaInst*, 4> holders_;
  // A temporary's threads are moved to a holder at once.
  llvm::DenseMap<const llvm::AllocaInst*, const llvm::AllocaInst*> moved_to_;
  llvm::DenseMap<const llvm::BasicBlock*, const llvm::AllocaInst*> ended_before_;
};

}  // namespace heddle
