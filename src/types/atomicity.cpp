#include "types/atomicity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "types/path.h"
#include "types/worklist.h"

namespace heddle::types {

namespace {

// More locks than this are taken as they are surely held, without asking what if.
constexpr std::size_t kMostConditions = 4;

enum Phase : uint8_t { kFirst = 0, kSecond = 1, kBroken = 2 };

// What happens to a transaction that is in its first phase, or in its second.
struct PhaseMap {
  std::array<uint8_t, 2> to = {kFirst, kSecond};
  bool is_constant = true;
  bool is_error = false;

  uint8_t of(uint8_t phase) const { return phase == kBroken ? uint8_t{kBroken} : to[phase]; }
  friend bool operator==(const PhaseMap&, const PhaseMap&) = default;
};

PhaseMap map_of(Atomicity atomicity) {
  switch (atomicity) {
    case Atomicity::kConstant: return {};
    case Atomicity::kMover: return {{kFirst, kSecond}, false, false};
    case Atomicity::kRight: return {{kFirst, kBroken}, false, false};
    case Atomicity::kLeft: return {{kSecond, kSecond}, false, false};
    case Atomicity::kAtomic: return {{kSecond, kBroken}, false, false};
    case Atomicity::kCompound: return {{kBroken, kBroken}, false, false};
    case Atomicity::kError: return {{kBroken, kBroken}, false, true};
  }
  return {};
}

Atomicity atomicity_of(const PhaseMap& map) {
  if (map.is_error) return Atomicity::kError;
  if (map.to[0] == kBroken) return Atomicity::kCompound;
  if (map.to[0] == kFirst && map.to[1] == kSecond)
    return map.is_constant ? Atomicity::kConstant : Atomicity::kMover;
  if (map.to[0] == kFirst) return Atomicity::kRight;
  return map.to[1] == kSecond ? Atomicity::kLeft : Atomicity::kAtomic;
}

PhaseMap map_of(Mover mover) {
  switch (mover) {
    case Mover::kConstant: return map_of(Atomicity::kConstant);
    case Mover::kBoth: return map_of(Atomicity::kMover);
    case Mover::kRight: return map_of(Atomicity::kRight);
    case Mover::kLeft: return map_of(Atomicity::kLeft);
    case Mover::kNone: return map_of(Atomicity::kAtomic);
  }
  return {};
}

PhaseMap then(const PhaseMap& first, const PhaseMap& second) {
  return {{second.of(first.to[0]), second.of(first.to[1])},
          first.is_constant && second.is_constant,
          first.is_error || second.is_error};
}

PhaseMap either(const PhaseMap& a, const PhaseMap& b) {
  return {{std::max(a.to[0], b.to[0]), std::max(a.to[1], b.to[1])},
          a.is_constant && b.is_constant,
          a.is_error || b.is_error};
}

class Inference {
 public:
  Inference(const CallGraph& graph, const ProgramFlow& flow, const HeldLocks& locks, const Types& types,
            const MoverOf& mover)
      : graph_(graph),
        flow_(flow),
        locks_(locks),
        types_(types),
        mover_(mover),
        found_(graph.functions().size()) {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const std::set<std::string>& needed = locks.needed(i);
      if (needed.size() <= kMostConditions) found_[i].conditions.assign(needed.begin(), needed.end());
      found_[i].table.assign(std::size_t{1} << found_[i].conditions.size(), Atomicity::kConstant);
    }
  }

  // Phase maps only grow, and there are few: it ends.
  std::vector<ConditionalAtomicity> run() {
    until_stable(found_.size(), [&](std::size_t i, const auto& again) {
      bool has_changed = false;
      for (std::size_t held = 0; held < found_[i].table.size(); ++held) {
        const Atomicity now = atomicity_of(either(map_of(found_[i].table[held]), body(i, held)));
        has_changed |= now != found_[i].table[held];
        found_[i].table[held] = now;
      }
      if (!has_changed) return;
      for (const std::size_t caller : graph_.callers(i)) again(caller);
    });
    return std::move(found_);
  }

 private:
  // The whole function when it is entered with these of its conditions held.
  PhaseMap body(std::size_t function, std::size_t held) const {
    const Function& code = *graph_.functions()[function];
    if (code.blocks.empty()) return {};
    std::set<std::string> at_entry;
    const std::vector<std::string>& conditions = found_[function].conditions;
    if (conditions.empty()) at_entry = locks_.surely_held(function);
    for (std::size_t i = 0; i < conditions.size(); ++i)
      if ((held >> i & 1) != 0) at_entry.insert(conditions[i]);
    std::vector<PhaseMap> before(code.blocks.size());
    std::vector<bool> is_reached(code.blocks.size());
    std::vector<uint32_t> waiting = {0};
    is_reached[0] = true;
    PhaseMap whole;  // an endless loop comes to no end, but what it did has been done
    while (!waiting.empty()) {
      const uint32_t number = waiting.back();
      waiting.pop_back();
      PhaseMap map = before[number];
      flow_.visit_block(function, number, [&](const Operation& operation, const State& state) {
        map = then(map, step(function, operation, state, at_entry));
      });
      whole = either(whole, map);
      for (const uint32_t next : code.blocks[number].next) {
        const PhaseMap joined = is_reached[next] ? either(before[next], map) : map;
        if (is_reached[next] && joined == before[next]) continue;
        is_reached[next] = true;
        before[next] = joined;
        waiting.push_back(next);
      }
    }
    return whole;
  }

  PhaseMap step(std::size_t function, const Operation& operation, const State& state,
                const std::set<std::string>& at_entry) const {
    switch (operation.kind) {
      case OperationKind::kRead:
      case OperationKind::kWrite:
      case OperationKind::kWholeRead:
      case OperationKind::kWholeWrite: return access(function, operation, state, at_entry);
      case OperationKind::kAtomic: return map_of(Mover::kNone);
      case OperationKind::kAcquire:
      case OperationKind::kAcquireShared: return map_of(Mover::kRight);
      case OperationKind::kRelease:
      case OperationKind::kDrop:
      case OperationKind::kFork: return map_of(Mover::kLeft);
      case OperationKind::kJoin: return map_of(Mover::kRight);
      case OperationKind::kWait: return map_of(Atomicity::kCompound);
      case OperationKind::kOrder:
        return operation.path == kNotifies      ? PhaseMap()
               : operation.path == kOrdersAfter ? map_of(Mover::kRight)
                                                : map_of(Atomicity::kCompound);
      case OperationKind::kAddressTaken:
      case OperationKind::kLeak:
      case OperationKind::kDefine:
      case OperationKind::kElement:
      case OperationKind::kPass: return {};
      case OperationKind::kCall: return call(function, operation, state, at_entry);
    }
    return {};
  }

  PhaseMap access(std::size_t function, const Operation& operation, const State& state,
                  const std::set<std::string>& at_entry) const {
    PhaseMap all;
    locks_.visit_accesses(function, operation, state, [&](const Access& access, const State& before) {
      const auto declared = types_.owners.find(access.place);
      if (!access.is_exempt && declared != types_.owners.end()) {
        const std::string lock = guard_of(declared->second.owner, access.path, access.place);
        if (!lock.empty() && !locks_.is_held(at_entry, before, lock, access.writes)) {
          all = then(all, map_of(Atomicity::kError));
          return;
        }
      }
      all = then(all, map_of(mover_(access, before)));
    });
    return all;
  }

  PhaseMap call(std::size_t function, const Operation& operation, const State& state,
                const std::set<std::string>& at_entry) const {
    const std::vector<std::size_t>& targets = graph_.targets(operation);
    if (targets.empty()) return map_of(Atomicity::kCompound);
    PhaseMap any;
    bool is_first = true;
    for (const std::size_t target : targets) {
      const ConditionalAtomicity& callee = found_[target];
      std::size_t held = 0;
      for (std::size_t i = 0; i < callee.conditions.size(); ++i)
        if (locks_.is_granted(at_entry, function, state, operation, target, callee.conditions[i]))
          held |= std::size_t{1} << i;
      const PhaseMap map = map_of(callee.table[held]);
      any = is_first ? map : either(any, map);
      is_first = false;
    }
    return any;
  }

  const CallGraph& graph_;
  const ProgramFlow& flow_;
  const HeldLocks& locks_;
  const Types& types_;
  const MoverOf& mover_;
  std::vector<ConditionalAtomicity> found_;
};

}  // namespace

std::string_view name_of(Atomicity atomicity) {
  switch (atomicity) {
    case Atomicity::kConstant: return "const";
    case Atomicity::kMover: return "mover";
    case Atomicity::kRight: return "right-mover";
    case Atomicity::kLeft: return "left-mover";
    case Atomicity::kAtomic: return "atomic";
    case Atomicity::kCompound: return "cmpd";
    case Atomicity::kError: return "error";
  }
  return "";
}

Atomicity sequence(Atomicity first, Atomicity second) {
  return atomicity_of(then(map_of(first), map_of(second)));
}

Atomicity repeated(Atomicity body) {
  const PhaseMap once = map_of(body);
  PhaseMap any;
  for (PhaseMap more = once; !(either(any, more) == any); more = then(any, once)) any = either(any, more);
  return atomicity_of(any);
}

Atomicity larger(Atomicity a, Atomicity b) { return atomicity_of(either(map_of(a), map_of(b))); }

Atomicity ConditionalAtomicity::at(const std::set<std::string>& held) const {
  std::size_t index = 0;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string& lock = conditions[i];
    const bool is_held =
        held.contains(lock) || (lock.ends_with(kShared) && held.contains(lock.substr(0, lock.size() - 1)));
    if (is_held) index |= std::size_t{1} << i;
  }
  return table[index];
}

std::string atomicity_text(const ConditionalAtomicity& atomicity) {
  if (std::all_of(atomicity.table.begin(), atomicity.table.end(),
                  [&](Atomicity entry) { return entry == atomicity.table[0]; }))
    return std::string(name_of(atomicity.table[0]));
  if (atomicity.conditions.size() == 1)
    return fmt::format("{} ? {} : {}", atomicity.conditions[0], name_of(atomicity.table[1]),
                       name_of(atomicity.table[0]));
  std::string all;
  for (const std::string& lock : atomicity.conditions) all += (all.empty() ? "" : " and ") + lock;
  return fmt::format("{} ? {} : at most {}", all, name_of(atomicity.table.back()),
                     name_of(*std::max_element(atomicity.table.begin(), atomicity.table.end())));
}

std::vector<ConditionalAtomicity> atomicities(const Program& /*program*/, const CallGraph& graph,
                                              const ProgramFlow& flow, const HeldLocks& locks,
                                              const Types& types, const MoverOf& mover) {
  return Inference(graph, flow, locks, types, mover).run();
}

}  // namespace heddle::types
