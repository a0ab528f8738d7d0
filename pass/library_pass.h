// An early part of the plug-in, before functions are inlined: says where operations of the standard library
// begin and end whose code lies in headers and so becomes the program's: barriers, latches, semaphores,
// shared_ptr's counts, futures. What they do inside is not the program's doing; but the locks that std::lock
// takes.
//
// The shape is that of libstdc++. A function that is not there is not marked; then its atomics count as the
// program's own, which orders threads all the same.
#pragma once

#include <llvm/IR/PassManager.h>

namespace heddle {

class LibraryPass : public llvm::PassInfoMixin<LibraryPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace heddle
