// With --heddle-focus=FILE: accesses that were proven to need no check get none. The early part finds them in
// the code as clang makes it, marks them and writes down where they stand in the source; the late part asks.
//
// Marks are lost to some optimizations, places to others. What the optimizer makes of several accesses has
// the mark if all of them had it, and stands at the place of one of them, or at none: a place counts only if
// no access there needs a check, and only for accesses no larger than what stood there.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <llvm/IR/Instruction.h>
#include <llvm/IR/PassManager.h>

namespace heddle {

bool is_focusing();
// For objects that check everything: those that leave something to others must not be put beside them.
void note_no_focus(llvm::Module& module);

class FocusPass : public llvm::PassInfoMixin<FocusPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

// Whether it is known to store only bytes that are elements of a container: no pointer changes by that,
// though to the compiler a byte may be a part of anything.
bool writes_byte_elements(const llvm::Instruction& instruction);

// What comes later would be confused by the marks.
void remove_marks(llvm::Module& module);

class FocusSpots {
 public:
  // Takes what the early part left in the module.
  explicit FocusSpots(llvm::Module& module);

  // Whether the instruction's access of so many bytes was proven.
  bool covers(const llvm::Instruction& instruction, uint64_t size) const;

  // Whether it is a relaxed load that is in no race and orders nothing.
  bool is_quiet_load(const llvm::Instruction& instruction) const;

 private:
  using Spot = std::tuple<std::string, unsigned, unsigned>;  // function, line, column
  std::map<Spot, uint64_t> sizes_;                           // the most bytes
  std::map<Spot, uint64_t> quiet_;
  std::set<std::string> clean_;  // functions in which nothing needs a check, nor in those they call
};

}  // namespace heddle
