#include "types/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "types/held_locks.h"
#include "types/path.h"
#include "types/worklist.h"

namespace heddle::types {

namespace {

// What the code does with a place outside of one thread's own objects.
struct Uses {
  unsigned reads = 0;
  unsigned writes = 0;
  unsigned exempt = 0;
  std::map<std::string, unsigned> locks;  // held, as an owner's lock would name them
  unsigned total() const { return reads + writes; }
};

// "p0/Account::mu_" seen from an access to p0/Account::balance_: "Account::mu_".
std::optional<std::string> relative(const std::string& lock, const Access& access) {
  const std::string_view root = root_of(lock);
  if (is_global(root) && lock.size() == root.size()) return lock;
  const std::string object = access.path.substr(0, access.path.size() - access.place.size());
  if (object.empty() || !lock.starts_with(object)) return std::nullopt;
  return lock.substr(object.size());
}

Owner owner_with(const std::string& lock) {
  if (is_global(lock)) return {OwnerKind::kGlobal, lock};
  return {lock.find('/') == std::string::npos ? OwnerKind::kSelf : OwnerKind::kPath, lock};
}

// Locks that are held at every call of each function, whatever it does with them, named from its parameters:
// the greatest fixed point.
class EntryLocks {
 public:
  EntryLocks(const CallGraph& graph, const ProgramFlow& flow, const Sharing& sharing)
      : locks_(graph.functions().size()) {
    for (std::size_t i = 0; i < locks_.size(); ++i)
      if (graph.is_called_from_outside(i)) locks_[i] = std::set<std::string>();
    until_stable(locks_.size(), [&](std::size_t i, const auto& again) {
      if (!locks_[i]) return;  // nobody who is called calls it, so far
      flow.visit(i, [&](const Operation& operation, const State& before) {
        if (operation.kind != OperationKind::kCall) return;
        for (const std::size_t target : graph.targets(operation))
          if (!sharing.is_harmless(i, before, target) && narrow(target, given(operation, at(i, before))))
            again(target);
      });
    });
  }

  // Those held before the operation.
  std::set<std::string> at(std::size_t function, const State& before) const {
    std::set<std::string> held = before.held;
    if (locks_[function] && !before.released.contains("?"))
      for (const std::string& lock : *locks_[function])
        if (!before.released.contains(place_of(lock))) held.insert(lock);
    // An element may be any of those that it is one of: whether it is held for sure, the check decides.
    for (const auto& [root, element] : before.elements)
      for (const std::string& lock : before.held)
        if (element.one_of.contains(std::string(root_of(lock))))
          held.insert(root + lock.substr(root_of(lock).size()));
    return held;
  }

 private:
  static std::set<std::string> given(const Operation& call, const std::set<std::string>& held) {
    std::set<std::string> named;
    for (const std::string& lock : held) {
      if (is_global(root_of(lock))) named.insert(lock);
      for (std::size_t i = 0; i < call.arguments.size(); ++i)
        if (const std::string& argument = call.arguments[i];
            argument != "?" && lock.starts_with(argument + "/"))
          named.insert(fmt::format("p{}{}", i, lock.substr(argument.size())));
    }
    return named;
  }

  bool narrow(std::size_t function, const std::set<std::string>& held) {
    std::optional<std::set<std::string>>& known = locks_[function];
    if (!known) {
      known = held;
      return true;
    }
    return std::erase_if(*known, [&](const std::string& lock) { return !held.contains(lock); }) > 0;
  }

  std::vector<std::optional<std::set<std::string>>> locks_;  // nothing: all
};

class Inference {
 public:
  Inference(const Program& program, const DiscoveryLog& log)
      : program_(program),
        log_(log),
        graph_(program),
        flow_(program, graph_),
        sharing_(graph_, flow_),
        places_(program, graph_),
        entry_(graph_, flow_, sharing_) {}

  Types run() {
    const HeldLocks bare(program_, graph_, flow_, sharing_, places_, types_);
    for (std::size_t i = 0; i < graph_.functions().size(); ++i)
      bare.visit_accesses(i, [&](const Access& access, const State& before) { add(access, before); });
    for (const auto& [name, type] : program_.classes)
      for (const Member& member : type.members)
        if (!member.is_lock && !member.is_atomic) infer(member.name);
    for (const auto& [name, site] : program_.globals)
      if (!program_.global_locks.contains(name)) infer(name);
    for (const auto& [place, uses] : uses_) infer(place);
    add_requires();
    return std::move(types_);
  }

 private:
  void add(const Access& access, const State& before) {
    if (access.place.empty() || access.path.size() <= access.place.size()) {
      if (!is_global(root_of(access.path))) return;
    }
    const std::string last = access.place.substr(access.place.rfind('/') + 1);
    if (const Member* const member = program_.member(last);
        member != nullptr && (member->is_lock || member->is_atomic))
      return;
    if (program_.global_locks.contains(access.place)) return;
    Uses& uses = uses_[access.place];
    if (access.is_exempt) {
      ++uses.exempt;
      return;
    }
    ++(access.writes ? uses.writes : uses.reads);
    for (const std::string& lock : entry_.at(access.function, before))
      if (const auto seen =
              relative(lock.ends_with(kShared) ? lock.substr(0, lock.size() - 1) : lock, access))
        ++uses.locks[*seen];
  }

  // The run's name of a place: parts of parts are named with a dot.
  static std::string told_name(const std::string& place) {
    std::string name = place.starts_with("g:") ? place.substr(2) : place;
    for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at)) {
      const std::size_t last = name.find('/', at + 1);
      const std::size_t member = name.rfind("::", last == std::string::npos ? last : last - 1);
      name.replace(at, member + 2 - at, ".");
    }
    return name;
  }

  // The mutex that lies so far from the place in its class.
  std::optional<std::string> lock_at(const std::string& place, const std::string& distance) const {
    if (is_global(distance))
      return program_.global_locks.contains(distance) ? std::optional(distance) : std::nullopt;
    const std::string first = place.substr(0, place.find('/'));
    const Class* const owner = program_.class_of(first);
    const Member* const member = program_.member(first);
    int64_t bytes = 0;
    const char* const begin = distance.data() + (distance.starts_with('+') ? 1 : 0);
    if (owner == nullptr || member == nullptr ||
        std::from_chars(begin, distance.data() + distance.size(), bytes).ec != std::errc())
      return std::nullopt;
    for (const Member& candidate : owner->members) {
      if (!candidate.is_lock) continue;
      const auto offset = static_cast<int64_t>(candidate.offset) - static_cast<int64_t>(member->offset);
      // An element or part of the member lies a little further on.
      if (bytes <= offset && bytes > offset - static_cast<int64_t>(std::max<uint64_t>(member->size, 1)))
        return candidate.name;
    }
    return std::nullopt;
  }

  std::optional<DeclaredOwner> from_run(const std::string& place) const {
    const auto found = log_.fields.find(told_name(place));
    if (found == log_.fields.end() || found->second.objects == 0) return std::nullopt;
    const FieldLog& field = found->second;
    if (field.shared == 0)
      return DeclaredOwner{{OwnerKind::kThread, ""},
                           fmt::format("{}, none shared", counted(field.objects, "object")),
                           field.objects > 1 ? 90U : 60U};
    if (field.written_shared == 0)
      return DeclaredOwner{{OwnerKind::kReadonly, ""},
                           fmt::format("{} shared, none written then", counted(field.shared, "object")),
                           90};
    std::map<std::string, uint64_t> held;
    for (const auto& [distance, count] : field.locks)
      if (const auto lock = lock_at(place, distance)) held[*lock] += count;
    const auto most = std::max_element(held.begin(), held.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != held.end() && most->second * 2 > field.shared_accesses) {
      const auto percent =
          static_cast<unsigned>(std::min<uint64_t>(100, most->second * 100 / field.shared_accesses));
      return DeclaredOwner{
          owner_with(most->first),
          fmt::format("held at {} of {} of {} shared by threads", most->second,
                      counted(field.shared_accesses, "use"), counted(field.shared, "object")),
          percent};
    }
    if (field.handed_over == field.shared)
      return DeclaredOwner{
          {OwnerKind::kUnique, ""},
          fmt::format("{} handed over, none used by two threads in turns", counted(field.shared, "object")),
          70};
    return std::nullopt;
  }

  // Where no run came, or saw too little: what the code does, executed or not.
  std::optional<DeclaredOwner> from_code(const std::string& place) const {
    const auto found = uses_.find(place);
    if (found == uses_.end()) return std::nullopt;
    const Uses& uses = found->second;
    if (uses.total() == 0)
      return DeclaredOwner{{OwnerKind::kThread, ""}, "only ever in objects of one thread", 50};
    if (uses.writes == 0)
      return DeclaredOwner{{OwnerKind::kReadonly, ""}, "no code writes it once it can be shared", 50};
    const auto most = std::max_element(uses.locks.begin(), uses.locks.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == uses.locks.end()) return std::nullopt;
    return DeclaredOwner{
        owner_with(most->first),
        fmt::format("taken before {} of {} in the code", most->second, counted(uses.total(), "use")),
        50 * most->second / uses.total()};
  }

  // What the code shows without exception needs no run; a run's word decides the rest.
  void infer(const std::string& place) {
    if (types_.owners.contains(place)) return;
    const std::optional<DeclaredOwner> code = from_code(place);
    std::optional<DeclaredOwner> run = from_run(place);
    if (code && !code->owner.is_lock()) {
      DeclaredOwner both = *code;
      both.percent = run && run->owner.kind == code->owner.kind ? 100 : 90;
      if (run) both.evidence += "; " + run->evidence;
      types_.owners[place] = both;
      return;
    }
    const bool run_sees_less = run && !run->owner.is_lock() && code;  // the code shares and writes it
    if (run && !run_sees_less) {
      if (code && code->owner == run->owner) run->evidence += "; " + code->evidence;
      types_.owners[place] = *run;
    } else if (code) {
      types_.owners[place] = *code;
    } else if (run) {
      types_.owners[place] = *run;
    } else {
      types_.owners[place] = uses_.contains(place)
                                 ? DeclaredOwner{{}, "no lock is held when it is used", 0}
                                 : DeclaredOwner{{OwnerKind::kThread, ""}, "no code uses it", 100};
    }
  }

  void add_requires() {
    const HeldLocks locks(program_, graph_, flow_, sharing_, places_, types_);
    for (std::size_t i = 0; i < graph_.functions().size(); ++i)
      if (!graph_.functions()[i]->is_library && !graph_.is_called_from_outside(i))
        for (const std::string& lock : locks.needed(i))
          types_.requires_[graph_.functions()[i]->name].insert(lock);
  }

  const Program& program_;
  const DiscoveryLog& log_;
  CallGraph graph_;
  ProgramFlow flow_;
  Sharing sharing_;
  Places places_;
  EntryLocks entry_;
  Types types_;
  std::map<std::string, Uses> uses_;
};

}  // namespace

Types infer_types(const Program& program, const DiscoveryLog& log) { return Inference(program, log).run(); }

}  // namespace heddle::types
