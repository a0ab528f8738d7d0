#include "pass/stretch_accesses.h"

#include <algorithm>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace heddle {

using namespace llvm;

namespace {

// The most bytes checked as one.
constexpr int64_t kMostJoined = 64;
// The most addresses that another one is compared with.
constexpr std::size_t kMostBases = 16;

// Among accesses of one stretch, in order: drops those that an earlier one covers, lets a write's check stand
// for a read of the same memory before it, and then makes one of neighbours. All of them happen, so it does
// not matter that some are checked a few instructions early.
void join(SmallVectorImpl<Access>& accesses, bool neighbours) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      Access& first = accesses[i];
      for (std::size_t j = i + 1; j < accesses.size(); ++j) {
        const Access& second = accesses[j];
        if (first.base != second.base) continue;
        const bool covers = first.offset <= second.offset && second.end() <= first.end();
        const bool is_same = covers && first.size == second.size;
        if (is_same) {
          first.writes |= second.writes;
        } else if (covers && (first.writes || !second.writes)) {
        } else if (neighbours && first.writes == second.writes && first.offset <= second.end() &&
                   second.offset <= first.end() &&
                   std::max(first.end(), second.end()) - std::min(first.offset, second.offset) <=
                       kMostJoined) {
          const int64_t end = std::max(first.end(), second.end());
          if (second.offset < first.offset) {
            const auto distance = static_cast<uint64_t>(first.offset - second.offset);
            first.alignment = std::max(second.alignment, std::min(first.alignment, distance & -distance));
            first.offset = second.offset;
          } else if (second.offset > first.offset) {
            const auto distance = static_cast<uint64_t>(second.offset - first.offset);
            first.alignment = std::max(first.alignment, std::min(second.alignment, distance & -distance));
          }
          first.size = static_cast<uint64_t>(end - first.offset);
        } else {
          continue;
        }
        if (first.name.empty()) first.name = second.name;
        accesses.erase(accesses.begin() + static_cast<std::ptrdiff_t>(j));
        --j;
        changed = true;
      }
    }
  }
}

}  // namespace

bool may_be_shared(Value* address) {
  if (address->getType()->getPointerAddressSpace() != 0) return false;
  const Value* object = getUnderlyingObject(address);
  if (const auto* global = dyn_cast<GlobalVariable>(object)) {
    if (global->isConstant()) return false;
    const StringRef name = global->getName();
    // Of the compiler's own: what coverage and profiles count, for one, and count without order.
    if (name.starts_with("__llvm") || name.starts_with("__prof") || name.starts_with("heddle_")) return false;
  }
  // What it points to (pass/surround.h).
  if (const auto* load = dyn_cast<LoadInst>(object))
    if (const auto* global = dyn_cast<GlobalVariable>(load->getPointerOperand());
        global != nullptr && global->getName() == "heddle_quiet")
      return false;
  if (isa<AllocaInst>(object) && !PointerMayBeCaptured(object, true, true)) return false;
  return true;
}

bool is_still_own(const Instruction& instruction, Value* address, const DominatorTree& dominators) {
  const Value* const object = getUnderlyingObject(address);
  if (!isa<AllocaInst>(object) && !isNoAliasCall(object)) return false;
  return !PointerMayBeCapturedBefore(object, /*ReturnCaptures=*/true, /*StoreCaptures=*/true, &instruction,
                                     &dominators, /*IncludeI=*/true);
}

bool ends_stretch(const Instruction& instruction) {
  if (const auto* call = dyn_cast<CallBase>(&instruction)) {
    if (isa<IntrinsicInst>(call)) return false;
    // Nor may it leave by another way: what comes behind it is checked together with what stands before.
    return !(call->hasFnAttr(Attribute::NoSync) && call->onlyReadsMemory() && call->doesNotThrow() &&
             call->hasFnAttr(Attribute::WillReturn));
  }
  return instruction.isAtomic();
}

SmallVector<Access> stretch_accesses(BasicBlock& block, ScalarEvolution& evolution,
                                     const DominatorTree& dominators, const AccessNames& names,
                                     const FocusSpots& focus) {
  const DataLayout& layout = block.getModule()->getDataLayout();
  SmallVector<Access> accesses;
  SmallVector<Access> stretch;
  SmallSetVector<const SCEV*, 16> bases;
  for (Instruction& instruction : block) {
    if (ends_stretch(instruction)) {
      join(stretch, /*neighbours=*/false);
      join(stretch, /*neighbours=*/true);
      accesses.append(stretch);
      stretch.clear();
    }
    Access access{&instruction, nullptr, 0, 0, false, nullptr, 0, 0, "", nullptr};
    Type* type = nullptr;
    if (auto* load = dyn_cast<LoadInst>(&instruction); load != nullptr && !load->isAtomic()) {
      access.address = load->getPointerOperand();
      access.alignment = load->getAlign().value();
      type = load->getType();
    } else if (auto* store = dyn_cast<StoreInst>(&instruction); store != nullptr && !store->isAtomic()) {
      access.address = store->getPointerOperand();
      access.alignment = store->getAlign().value();
      access.writes = true;
      type = store->getValueOperand()->getType();
    } else {
      continue;
    }
    if (instruction.hasMetadata(LLVMContext::MD_nosanitize)) continue;
    const TypeSize size = layout.getTypeStoreSize(type);
    if (size.isScalable() || size.isZero() || !may_be_shared(access.address)) continue;
    access.size = size.getFixedValue();
    if (focus.covers(instruction, access.size)) continue;
    if (is_focusing() && is_still_own(instruction, access.address, dominators)) continue;
    access.base = evolution.getSCEV(access.address);
    std::size_t tries = kMostBases;
    for (const SCEV* base : reverse(bases)) {
      if (tries-- == 0) break;
      if (base->getType() != access.base->getType()) continue;
      const auto* distance = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(access.base, base));
      if (distance == nullptr) continue;
      access.base = base;
      access.offset = access.address_offset = distance->getAPInt().getSExtValue();
      break;
    }
    if (access.offset == 0) bases.insert(access.base);
    access.name = names.name_of(instruction, access.address);
    stretch.push_back(access);
  }
  join(stretch, /*neighbours=*/false);
  join(stretch, /*neighbours=*/true);
  accesses.append(stretch);
  return accesses;
}

}  // namespace heddle
