// Atomicities of functions (S4 §3.2 and §5), inferred by the least fixed point.
//
// A function is seen as what it does to the phase of the transaction it runs in: in the first phase nothing
// has happened yet that could not be moved behind what others do; in the second nothing may follow that could
// not be moved ahead; past that the transaction is in pieces. Sequence, branch, loop and call are then the
// composition, the larger and the iteration of such maps, and const, mover, atomic and cmpd are four of them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "types/call_graph.h"
#include "types/function_flow.h"
#include "types/held_locks.h"

namespace heddle::types {

enum class Atomicity : uint8_t {
  kConstant,
  kMover,
  kRight,  // takes a lock: moves behind what others do. S4 has it inside of methods only
  kLeft,   // gives one back
  kAtomic,
  kCompound,
  kError,  // breaks the discipline of locks that its types declare
};
std::string_view name_of(Atomicity atomicity);

enum class Mover : uint8_t { kConstant, kBoth, kRight, kLeft, kNone };

// l ? a : b over several locks: the atomicity for every set of them that may be held when the function is
// called.
struct ConditionalAtomicity {
  std::vector<std::string> conditions;                    // locks, named from the parameters
  std::vector<Atomicity> table = {Atomicity::kConstant};  // bit i of the index: conditions[i] is held
  Atomicity at(const std::set<std::string>& held) const;
  friend bool operator==(const ConditionalAtomicity&, const ConditionalAtomicity&) = default;
};
std::string atomicity_text(const ConditionalAtomicity& atomicity);

// `mover` tells how an access to memory moves, given that its owner's lock is held.
using MoverOf = std::function<Mover(const Access& access, const State& before)>;
std::vector<ConditionalAtomicity> atomicities(const Program& program, const CallGraph& graph,
                                              const ProgramFlow& flow, const HeldLocks& locks,
                                              const Types& types, const MoverOf& mover);

// The operations of S4 §3.2 on atomicities without conditions.
Atomicity sequence(Atomicity first, Atomicity second);
Atomicity repeated(Atomicity body);
Atomicity larger(Atomicity a, Atomicity b);

}  // namespace heddle::types
