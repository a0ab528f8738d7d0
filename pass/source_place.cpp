#include "pass/source_place.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>

namespace heddle {

using namespace llvm;

namespace {

bool is_place(const DebugLoc& spot) { return spot && spot.getLine() != 0; }

// Of the values that it is computed from, or of those computed from it, the nearest that stands somewhere.
template <class Next>
DebugLoc nearest(const Instruction& from, Next next) {
  constexpr unsigned kMost = 16;
  SmallVector<const Instruction*, kMost> seen = {&from};
  for (unsigned i = 0; i < seen.size() && i < kMost; ++i)
    for (const auto* value : next(*seen[i])) {
      const auto* const instruction = dyn_cast<Instruction>(value);
      if (instruction == nullptr || is_contained(seen, instruction)) continue;
      if (is_place(instruction->getDebugLoc())) return instruction->getDebugLoc();
      seen.push_back(instruction);
    }
  return {};
}

}  // namespace

DebugLoc source_place(const Instruction& access) {
  const DebugLoc& own = access.getDebugLoc();
  if (is_place(own)) return own;
  const auto users = [](const Instruction& of) { return of.users(); };
  const auto operands = [](const Instruction& of) { return of.operand_values(); };
  DebugLoc found = isa<StoreInst>(access) ? nearest(access, operands) : nearest(access, users);
  if (!found) found = nearest(access, operands);
  return found ? found : own;
}

}  // namespace heddle
