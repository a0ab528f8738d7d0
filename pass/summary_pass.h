// With --heddle-summaries: what every function does that matters to threads goes into the object file, as
// text in the section heddle_summaries (src/types/summary_text.h reads it). Comes before all other passes and
// changes nothing.
#pragma once

#include <memory>
#include <string>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

namespace heddle {

bool is_summarizing();

class SummaryPass : public llvm::PassInfoMixin<SummaryPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

// A copy of the module to look at, whose variables are values. `originals`: what its accesses are copies of.
using Originals = llvm::DenseMap<const llvm::Instruction*, const llvm::Instruction*>;
std::unique_ptr<llvm::Module> promoted_copy(const llvm::Module& module, Originals* originals = nullptr);

// "bank.cpp:12:3"; empty: not known.
std::string site_of(const llvm::Instruction* instruction);

// Files of the program that the module was compiled from, and hashes of their bytes.
struct SourceHash {
  std::string path;
  std::string hash;
};
std::vector<SourceHash> source_hashes(const llvm::Module& module);

}  // namespace heddle
