// Names of what is accessed, from the source to the reports. The early pass writes them down: on each access,
// and in a table by the place in the source, because optimization drops the first. The late pass asks.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include <llvm/IR/Instruction.h>
#include <llvm/IR/PassManager.h>

namespace heddle {

class NamePass : public llvm::PassInfoMixin<NamePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

class AccessNames {
 public:
  // Takes what the early pass left in the module.
  explicit AccessNames(llvm::Module& module);

  // Of what the instruction accesses at `address`; empty if unknown.
  std::string name_of(const llvm::Instruction& instruction, const llvm::Value* address) const;

 private:
  // Scope, line, column; and the library's function that is called there: `p->count++` calls two in one
  // place.
  using Spot = std::tuple<const llvm::Metadata*, unsigned, unsigned, const llvm::Metadata*>;
  std::map<Spot, std::string> by_spot_;
};

}  // namespace heddle
