#include "types/atomic_places.h"

namespace heddle::types {

AtomicPlaces::AtomicPlaces(const CallGraph& graph, const ProgramFlow& flow, const Places& places,
                           const HeldLocks& locks) {
  for (std::size_t i = 0; i < graph.functions().size(); ++i)
    flow.visit(i, [&](const Operation& operation, const State&) {
      if (operation.kind != OperationKind::kAtomic) return;
      if (const std::string place = places.of(operation.path); !place.empty())
        uses_.try_emplace(place).first->second.atomically = i;
    });
  for (std::size_t i = 0; i < graph.functions().size(); ++i)
    locks.visit_accesses(i, [&](const Access& access, const State&) {
      const auto found = uses_.find(access.place);
      if (found == uses_.end() || access.is_exempt || found->second.is_mixed) return;
      found->second.is_mixed = true;
      found->second.plainly = i;
      found->second.writes = access.writes;
      found->second.site = access.operation->site;
    });
}

}  // namespace heddle::types
