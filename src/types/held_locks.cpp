#include "types/held_locks.h"

#include <algorithm>

#include "base/text.h"
#include "types/path.h"
#include "types/worklist.h"

namespace heddle::types {

namespace {

// Longer ones come from recursion and lead nowhere.
constexpr std::size_t kMostSteps = 8;
constexpr unsigned kDeepest = 6;

bool is_nameable(std::string_view lock) {
  const std::string_view root = root_of(lock);
  return (is_parameter(root) || is_global(root)) && steps_of(lock).size() <= kMostSteps;
}

std::string_view bare(std::string_view lock) {
  if (lock.ends_with(kShared)) lock.remove_suffix(kShared.size());
  return lock;
}

// Whether code without summary gets objects, or may write to any.
bool gives_objects_away(const Program& program) {
  if (!program.opaque_files.empty() || !program.foreign_parts.empty()) return true;
  for (const auto& [symbol, function] : program.functions)
    for (const Block& block : function.blocks)
      for (const Operation& operation : block.operations)
        if (operation.kind == OperationKind::kPass && operation.callee != kCopyFrom &&
            !program.functions.contains(operation.callee))
          return true;
  return false;
}

}  // namespace

void Places::add(const std::string& path, const std::string& site) {
  const std::string place = place_of(path);
  if (!place.empty()) taken_.try_emplace(place, site);
}

Places::Places(const Program& program, const CallGraph& graph) : program_(program) {
  for (const Function* function : graph.functions())
    for (const Block& block : function->blocks)
      for (const Operation& operation : block.operations) {
        if (operation.kind == OperationKind::kAddressTaken || operation.kind == OperationKind::kLeak)
          add(operation.path, operation.site);
        if (operation.kind == OperationKind::kCall)
          for (const std::string& argument : operation.arguments) add(argument, operation.site);
      }
  // What is a part of a part goes by another name when the part does.
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const auto& [place, site] : std::map(taken_))
      has_changed |= taken_.try_emplace(normal(place), site).second;
  }
}

std::string Places::normal(std::string place) const {
  return normal_place(std::move(place), [&](const std::string& part) { return taken_.contains(part); });
}

std::string Places::of(std::string_view path) const { return normal(place_of(path)); }

void Places::add_members(const std::string& class_name, const std::string& prefix, unsigned depth,
                         std::vector<std::string>& members) const {
  const auto found = program_.classes.find(class_name);
  if (found == program_.classes.end() || depth >= kDeepest) return;
  for (const Member& member : found->second.members) {
    members.push_back(prefix.empty() ? member.name : prefix + "/" + member.name);
    if (program_.is_object(member)) add_members(member.type, std::string(members.back()), depth + 1, members);
  }
}

std::vector<std::string> Places::members_of(const std::string& class_name) const {
  std::vector<std::string> members;
  add_members(class_name, "", 0, members);
  return members;
}

std::vector<std::string> Places::all_of(const std::string& class_name) const {
  std::vector<std::string> places = members_of(class_name);
  for (std::string& place : places) place = normal(std::move(place));
  return places;
}

HeldLocks::HeldLocks(const Program& program, const CallGraph& graph, const ProgramFlow& flow,
                     const Sharing& sharing, const Places& places, const Types& types)
    : graph_(graph),
      flow_(flow),
      sharing_(sharing),
      places_(places),
      types_(types),
      may_change_containers_(gives_objects_away(program)),
      needed_(graph.functions().size()),
      held_(graph.functions().size()) {
  find_changing();
  find_needed();
  narrow();
}

void HeldLocks::visit_accesses(std::size_t function, const Operation& operation, const State& before,
                               const Visit& visit) const {
  const bool is_whole =
      operation.kind == OperationKind::kWholeRead || operation.kind == OperationKind::kWholeWrite;
  if (!is_whole && operation.kind != OperationKind::kRead && operation.kind != OperationKind::kWrite) return;
  Access access;
  access.function = function;
  access.operation = &operation;
  access.writes = operation.kind == OperationKind::kWrite || operation.kind == OperationKind::kWholeWrite;
  access.is_exempt =
      sharing_.is_alone(function, before) || sharing_.is_unshared(function, operation.path, before);
  if (!is_whole) {
    access.path = operation.path;
    access.place = places_.of(operation.path);
    visit(access, before);
    return;
  }
  for (const std::string& member : places_.members_of(operation.callee)) {
    access.path = operation.path + "/" + member;
    access.place = places_.of(access.path);
    visit(access, before);
  }
}

void HeldLocks::visit_accesses(std::size_t function, const Visit& visit) const {
  flow_.visit(function, [&](const Operation& operation, const State& before) {
    visit_accesses(function, operation, before, visit);
  });
}

void HeldLocks::find_changing() {
  for (const auto& [place, site] : places_.taken()) changing_.insert(place);
  for (std::size_t i = 0; i < graph_.functions().size(); ++i)
    visit_accesses(i, [&](const Access& access, const State&) {
      if (access.writes && !access.is_exempt) changing_.insert(access.place);
    });
  for (std::size_t i = 0; i < graph_.functions().size(); ++i)
    flow_.visit(i, [&](const Operation& operation, const State&) {
      if (operation.kind == OperationKind::kAtomic) changing_.insert(places_.of(operation.path));
    });
}

bool HeldLocks::is_usable(const std::string& lock) const {
  // One element of a container is not another.
  if (lock.find("/[]") != std::string::npos) return false;
  const std::vector<std::string> pointers = pointers_on(lock);
  return std::all_of(pointers.begin(), pointers.end(), [&](const std::string& place) {
    return !place.empty() && is_final(places_.normal(place));
  });
}

bool HeldLocks::is_held(const std::set<std::string>& at_entry, const State& before, const std::string& lock,
                        bool alone) const {
  if (lock.empty() || !is_usable(lock)) return false;
  if (before.held.contains(lock) || (!alone && before.held.contains(lock + std::string(kShared))))
    return true;
  if (is_held_of_all(before, lock, alone)) return true;
  if (!at_entry.contains(lock) && (alone || !at_entry.contains(lock + std::string(kShared)))) return false;
  return !before.released.contains("?") && !before.released.contains(place_of(lock));
}

// Whether the lock is that of an element which is one of several, and all of theirs are held. The container
// must keep its elements: nobody changes it once others can see it, and in this function nobody can have
// begun to see it since the first of them was asked for (State::elements).
bool HeldLocks::is_held_of_all(const State& before, const std::string& lock, bool alone) const {
  const std::string root(root_of(lock));
  const auto found = before.elements.find(root);
  if (found == before.elements.end() || may_change_containers_) return false;
  const std::string container = places_.of(found->second.container);
  if (is_through_owner(found->second.container)) return false;  // which may come to have another object
  if (container.empty() || !is_final(container) || !is_usable(found->second.container)) return false;
  // What all roots of one element share.
  const auto first_of = [&](std::string_view one) {
    const auto element = before.elements.find(std::string(one));
    const bool is_same = element != before.elements.end() && element->second.one_of.size() == 1;
    return is_same ? *element->second.one_of.begin() : std::string(one);
  };
  const std::string_view rest = std::string_view(lock).substr(root.size());
  const auto is_held_of = [&](const std::string& one) {
    return std::any_of(before.held.begin(), before.held.end(), [&](const std::string& held) {
      if (alone && held.ends_with(kShared)) return false;
      const std::string_view other = root_of(bare(held));
      return bare(held).substr(other.size()) == rest && first_of(other) == first_of(one);
    });
  };
  const std::set<std::string>& one_of = found->second.one_of;
  if (one_of.size() < 2) return is_held_of(root);
  return std::all_of(one_of.begin(), one_of.end(), is_held_of);
}

bool HeldLocks::is_granted(const std::set<std::string>& at_entry, std::size_t function, const State& before,
                           const Operation& call, std::size_t target, const std::string& lock) const {
  if (sharing_.is_harmless(function, before, target)) return true;
  const std::string here = instantiate(bare(lock), call.arguments);
  if (here.empty()) return false;
  const std::string_view root = root_of(lock);
  const bool is_kept = is_parameter(root) && flow_.effects(target).captures.contains(parameter_of(root));
  if (!is_kept && sharing_.is_unshared(function, object_of(here), before)) return true;
  return is_held(at_entry, before, here, !lock.ends_with(kShared));
}

// The least sets such that every access and every call has its locks taken or asked for.
void HeldLocks::find_needed() {
  until_stable(graph_.functions().size(), [&](std::size_t i, const auto& again) {
    bool has_changed = false;
    const auto need = [&](std::string lock, bool alone) {
      // A way that changes leads to no lock that a caller could hold for sure.
      if (!is_nameable(lock) || !is_usable(lock)) return;
      if (alone) {
        needed_[i].erase(lock + std::string(kShared));
      } else {
        if (needed_[i].contains(lock)) return;
        lock += kShared;
      }
      has_changed |= needed_[i].insert(std::move(lock)).second;
    };
    visit_accesses(i, [&](const Access& access, const State& before) {
      const auto declared = types_.owners.find(access.place);
      if (access.is_exempt || declared == types_.owners.end()) return;
      const std::string lock = guard_of(declared->second.owner, access.path, access.place);
      if (!lock.empty() && !is_held(i, before, lock, access.writes)) need(lock, access.writes);
    });
    flow_.visit(i, [&](const Operation& operation, const State& before) {
      if (operation.kind != OperationKind::kCall) return;
      for (const std::size_t target : graph_.targets(operation))
        for (const std::string& lock : std::set(needed_[target]))
          if (!is_granted(i, before, operation, target, lock))
            need(instantiate(bare(lock), operation.arguments), !lock.ends_with(kShared));
    });
    if (!has_changed) return;
    for (const std::size_t caller : graph_.callers(i)) again(caller);
  });
}

void HeldLocks::narrow() {
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (!graph_.is_called_from_outside(i)) held_[i] = needed_[i];
  until_stable(graph_.functions().size(), [&](std::size_t i, const auto& again) {
    flow_.visit(i, [&](const Operation& operation, const State& before) {
      if (operation.kind != OperationKind::kCall) return;
      for (const std::size_t target : graph_.targets(operation)) {
        const std::size_t lost = std::erase_if(held_[target], [&](const std::string& lock) {
          return !is_granted(i, before, operation, target, lock);
        });
        if (lost > 0) again(target);
      }
    });
  });
}

}  // namespace heddle::types
