#include "types/sharing.h"

#include <algorithm>

#include "types/path.h"
#include "types/worklist.h"

namespace heddle::types {

bool Sharing::is_unshared(std::size_t function, std::string_view path, const State& before) const {
  const std::string root(root_of(path));
  if (before.leaked.contains(root)) return false;
  // What a container in the object keeps belongs to the object; what its elements are made of may be known
  // elsewhere, too.
  if (path.ends_with("/[]")) path = object_of(path);
  const std::vector<std::string_view> steps = steps_of(path);
  const bool leaves_object = std::any_of(
      steps.begin(), steps.end(), [](std::string_view step) { return step == kBehind || step == kElement; });
  if (leaves_object) return false;
  if (is_own(root)) return true;
  if (!is_parameter(root)) return false;
  const Function& here = *graph_.functions()[function];
  const unsigned parameter = parameter_of(root);
  // What an owner has may have been known to others before. A destructor that still orders threads expects
  // others to be there.
  const bool is_ending = here.is_destructor && trusts_destructors_ && !before.orders_later;
  if (parameter == 0 && !is_through_owner(path) && (here.is_constructor || here.makes_result || is_ending))
    return true;
  return !shared_[function].contains(parameter);
}

// Takes from the functions it calls what it does not grant, and has those looked at again.
void Sharing::narrow(std::size_t function, const std::function<void(std::size_t)>& again) {
  flow_.visit(function, [&](const Operation& operation, const State& before) {
    if (operation.kind != OperationKind::kCall) return;
    for (const std::size_t target : graph_.targets(operation)) {
      if (!is_alone(function, before) && starts_alone_[target]) {
        starts_alone_[target] = false;
        again(target);
      }
      if (is_harmless(function, before, target)) continue;
      const Function& callee = *graph_.functions()[target];
      for (unsigned parameter = 0; parameter < callee.parameters; ++parameter) {
        const bool is_given = parameter < operation.arguments.size();
        if (is_given && is_unshared(function, operation.arguments[parameter], before)) continue;
        if (shared_[target].insert(parameter).second) again(target);
      }
    }
  });
}

Sharing::Sharing(const CallGraph& graph, const ProgramFlow& flow, bool trusts_destructors)
    : graph_(graph), flow_(flow), trusts_destructors_(trusts_destructors), shared_(graph.functions().size()) {
  bool initializers_fork = false;
  for (std::size_t i = 0; i < graph.functions().size(); ++i)
    initializers_fork |= graph.functions()[i]->name == kInitializer && flow.effects(i).forks;
  for (std::size_t i = 0; i < graph.functions().size(); ++i) {
    const Function& function = *graph.functions()[i];
    const bool is_first = function.name == "main" || function.name == kInitializer;
    const bool from_outside = graph.is_called_from_outside(i);
    starts_alone_.push_back(!from_outside || (is_first && !initializers_fork));
    for (unsigned parameter = 0; from_outside && parameter < function.parameters; ++parameter)
      shared_[i].insert(parameter);
  }
  until_stable(graph.functions().size(), [&](std::size_t i, const auto& again) { narrow(i, again); });
}

}  // namespace heddle::types
