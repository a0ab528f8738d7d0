#include "pass/atomic_operation.h"

#include <llvm/IR/Instructions.h>

#include "runtime/atomics.h"

namespace heddle {

using namespace llvm;

uint32_t meaning_of(AtomicOrdering order) {
  return (isAcquireOrStronger(order) ? runtime::kAcquires : 0) |
         (isReleaseOrStronger(order) ? runtime::kReleases : 0) |
         (order == AtomicOrdering::SequentiallyConsistent ? runtime::kIsSequential : 0);
}

std::optional<AtomicOperation> atomic_operation(Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return AtomicOperation{load, load->getPointerOperand(), load->getType()};
  if (auto* store = dyn_cast<StoreInst>(&instruction))
    return AtomicOperation{store, store->getPointerOperand(), store->getValueOperand()->getType()};
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction))
    return AtomicOperation{update, update->getPointerOperand(), update->getType()};
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return AtomicOperation{exchange, exchange->getPointerOperand(), exchange->getCompareOperand()->getType()};
  return std::nullopt;
}

AtomicOperation::Outcome AtomicOperation::outcome(IRBuilder<>& builder) const {
  const auto both = [&](uint32_t kind, AtomicOrdering order) {
    return Outcome{builder.getInt32(kind), builder.getInt32(meaning_of(order))};
  };
  if (auto* load = dyn_cast<LoadInst>(instruction)) return both(runtime::kAtomicRead, load->getOrdering());
  if (auto* store = dyn_cast<StoreInst>(instruction))
    return both(runtime::kAtomicWrite, store->getOrdering());
  if (auto* update = dyn_cast<AtomicRMWInst>(instruction))
    return both(runtime::kAtomicRead | runtime::kAtomicWrite, update->getOrdering());
  auto* const exchange = cast<AtomicCmpXchgInst>(instruction);
  const Outcome success = both(runtime::kAtomicRead | runtime::kAtomicWrite, exchange->getSuccessOrdering());
  const Outcome failure =
      both(runtime::kAtomicRead | runtime::kAtomicCompare, exchange->getFailureOrdering());
  Value* const succeeded = builder.CreateExtractValue(exchange, 1);
  return {builder.CreateSelect(succeeded, success.kind, failure.kind),
          builder.CreateSelect(succeeded, success.order, failure.order)};
}

}  // namespace heddle
