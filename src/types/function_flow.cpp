#include "types/function_flow.h"

#include <algorithm>
#include <deque>

#include "types/path.h"
#include "types/worklist.h"

namespace heddle::types {

namespace {

// Makes `state` what holds when control may also come with `other`. True: it has changed.
bool meet(State& state, const State& other) {
  if (!other.is_reached) return false;
  if (!state.is_reached) {
    state = other;
    return true;
  }
  const State before = state;
  std::erase_if(state.held, [&](const std::string& lock) {
    return !other.held.contains(lock) &&
           !other.held.contains(lock.substr(0, lock.size() - lock.ends_with(kShared)));
  });
  // Held alone on one way and shared on another: shared.
  for (const std::string& lock : other.held)
    if (lock.ends_with(kShared) && state.held.erase(lock.substr(0, lock.size() - 1)) > 0)
      state.held.insert(lock);
  for (const std::string& lock : before.held)
    if (!lock.ends_with(kShared) && other.held.contains(lock + std::string(kShared)))
      state.held.insert(lock + std::string(kShared));
  state.released.insert(other.released.begin(), other.released.end());
  state.leaked.insert(other.leaked.begin(), other.leaked.end());
  state.threads.insert(other.threads.begin(), other.threads.end());
  std::erase_if(state.elements, [&](const auto& known) {
    const auto found = other.elements.find(known.first);
    return found == other.elements.end() || found->second.container != known.second.container;
  });
  for (auto& [root, element] : state.elements)
    if (element.one_of != other.elements.at(root).one_of) element.one_of.clear();
  return !(state == before);
}

std::string without_mode(const std::string& lock) {
  return lock.ends_with(kShared) ? lock.substr(0, lock.size() - 1) : lock;
}

// A lock at this place is given back, and it is not known whose.
void lose(State& state, const std::string& place) {
  const bool is_any = place.empty() || place == "?";
  std::erase_if(state.held,
                [&](const std::string& lock) { return is_any || place_of(without_mode(lock)) == place; });
  state.released.insert(is_any ? "?" : place);
}

// Whether the path says later, too, which lock it was.
bool is_known_lock(const std::string& path) { return path != "?" && !is_through_owner(path); }

// Other roots are anybody's from the start, and so is what lies behind a pointer in memory.
void leak(State& state, const std::string& path) {
  const std::string_view root = root_of(path);
  const std::vector<std::string_view> steps = steps_of(path);
  if (std::find(steps.begin(), steps.end(), kBehind) != steps.end()) return;
  if (!is_parameter(root) && !is_own(root)) return;
  state.leaked.emplace(root);
  state.elements.clear();
}

void start_thread(State& state, const std::string& keeper) {
  state.threads.insert(keeper);
  state.elements.clear();
}

// The root has a new value.
void forget(State& state, const std::string& root) {
  std::erase_if(state.held, [&](const std::string& lock) { return root_of(without_mode(lock)) == root; });
  state.leaked.erase(root);
  std::erase_if(state.elements, [&](const auto& known) {
    return known.first == root || root_of(known.second.container) == root;
  });
  for (auto& [other, element] : state.elements)
    if (element.one_of.contains(root)) element.one_of.clear();
}

void find_element(State& state, const Operation& operation) {
  const bool are_known =
      std::all_of(operation.arguments.begin(), operation.arguments.end(), [&](const std::string& earlier) {
        const auto found = state.elements.find(earlier);
        return found != state.elements.end() && found->second.container == operation.callee;
      });
  Element element{operation.callee, {}};
  if (are_known) element.one_of.insert(operation.arguments.begin(), operation.arguments.end());
  state.elements[operation.path] = std::move(element);
}

}  // namespace

void ProgramFlow::apply(const Operation& operation, State& state) const {
  switch (operation.kind) {
    case OperationKind::kRead:
    case OperationKind::kWrite:
    case OperationKind::kAtomic:
    case OperationKind::kWait:
    case OperationKind::kPass:
    case OperationKind::kWholeRead:
    case OperationKind::kWholeWrite:
    case OperationKind::kOrder: return;
    case OperationKind::kAcquire:
      state.held.erase(operation.path + std::string(kShared));
      if (is_known_lock(operation.path)) state.held.insert(operation.path);
      return;
    case OperationKind::kAcquireShared:
      if (is_known_lock(operation.path) && !state.held.contains(operation.path))
        state.held.insert(operation.path + std::string(kShared));
      return;
    case OperationKind::kRelease:
      if (state.held.erase(operation.path) == 0 &&
          state.held.erase(operation.path + std::string(kShared)) == 0)
        lose(state, place_of(operation.path));
      return;
    case OperationKind::kDrop:
      if (state.held.erase(operation.path) == 0) state.held.erase(operation.path + std::string(kShared));
      return;
    case OperationKind::kAddressTaken:
    case OperationKind::kLeak: leak(state, operation.path); return;
    case OperationKind::kDefine: forget(state, operation.path); return;
    case OperationKind::kElement: find_element(state, operation); return;
    case OperationKind::kFork: start_thread(state, operation.path == kKeeper ? kKeeper : kSomewhere); return;
    case OperationKind::kJoin: state.threads.erase(operation.path); return;
    case OperationKind::kCall: break;
  }
  const std::vector<std::size_t>& targets = graph_.targets(operation);
  if (targets.empty()) {
    for (const std::string& argument : operation.arguments) leak(state, argument);
    start_thread(state, kSomewhere);
    return;
  }
  // A function of the library that calls another one hands its object on.
  const std::string keeper = operation.callee.empty() || operation.path.empty() ? kSomewhere : operation.path;
  for (const std::size_t target : targets) {
    const Effects& effects = effects_[target];
    for (const unsigned parameter : effects.captures)
      if (parameter < operation.arguments.size()) leak(state, operation.arguments[parameter]);
    for (const std::string& place : effects.releases) lose(state, place);
    for (const std::string& kept : effects.leaves) state.threads.insert(kept == kKeeper ? keeper : kept);
    if (effects.forks) state.elements.clear();
  }
}

std::vector<State> ProgramFlow::entry_states(const Function& function) const {
  std::vector<State> states(function.blocks.size());
  if (states.empty()) return states;
  states[0].is_reached = true;
  std::deque<uint32_t> waiting = {0};
  while (!waiting.empty()) {
    const uint32_t number = waiting.front();
    waiting.pop_front();
    State state = states[number];
    for (const Operation& operation : function.blocks[number].operations) apply(operation, state);
    for (const uint32_t next : function.blocks[number].next)
      if (meet(states[next], state) && std::find(waiting.begin(), waiting.end(), next) == waiting.end())
        waiting.push_back(next);
  }
  return states;
}

void ProgramFlow::visit_block(std::size_t function, std::size_t block, const Visit& visit) const {
  State state = states_[function][block];
  if (!state.is_reached) return;
  const Function& code = *graph_.functions()[function];
  const std::vector<Operation>& operations = code.blocks[block].operations;
  std::size_t last = operations.size();  // behind the last one that orders threads
  if (code.is_destructor) {
    const bool is_later = std::any_of(code.blocks[block].next.begin(), code.blocks[block].next.end(),
                                      [&](uint32_t next) { return orders_later_[function][next]; });
    while (!is_later && last > 0 && !orders(code, operations[last - 1])) --last;
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    state.orders_later = code.is_destructor && i < last;
    visit(operations[i], state);
    apply(operations[i], state);
  }
}

bool ProgramFlow::orders(const Function& function, const Operation& operation) const {
  if (orders_threads(operation.kind)) return true;
  if (operation.kind != OperationKind::kCall) return false;
  const std::vector<std::size_t>& targets = graph_.targets(operation);
  // What the library calls by pointer is its own, or known.
  if (targets.empty()) return !function.is_library;
  return std::any_of(targets.begin(), targets.end(),
                     [&](std::size_t target) { return effects_[target].orders; });
}

std::vector<bool> ProgramFlow::find_orders_later(const Function& function) const {
  std::vector<bool> later(function.blocks.size());
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = later.size(); i-- > 0;) {
      if (later[i]) continue;
      const Block& block = function.blocks[i];
      later[i] =
          std::any_of(block.next.begin(), block.next.end(), [&](uint32_t next) { return later[next]; }) ||
          std::any_of(block.operations.begin(), block.operations.end(),
                      [&](const Operation& operation) { return orders(function, operation); });
      has_changed |= later[i];
    }
  }
  return later;
}

void ProgramFlow::visit(std::size_t function, const Visit& visit) const {
  for (std::size_t block = 0; block < states_[function].size(); ++block) visit_block(function, block, visit);
}

Effects ProgramFlow::effects_of(std::size_t function) const {
  Effects effects;
  const auto add = [&](const State& state) {
    for (const std::string& root : state.leaked)
      if (is_parameter(root)) effects.captures.insert(parameter_of(root));
    effects.releases.insert(state.released.begin(), state.released.end());
  };
  for (std::size_t block = 0; block < states_[function].size(); ++block) {
    State state = states_[function][block];
    if (!state.is_reached) continue;
    const Block& code = graph_.functions()[function]->blocks[block];
    for (const Operation& operation : code.operations) {
      apply(operation, state);
      effects.forks |= !state.threads.empty();
      effects.orders |= orders(*graph_.functions()[function], operation);
      if (operation.kind == OperationKind::kCall)
        for (const std::size_t target : graph_.targets(operation)) effects.forks |= effects_[target].forks;
    }
    add(state);
    if (!code.next.empty()) continue;
    for (const std::string& kept : state.threads)
      effects.leaves.insert(kept == kKeeper ? kKeeper : kSomewhere);
  }
  return effects;
}

// Effects only grow, and each is drawn from finitely many: it ends.
ProgramFlow::ProgramFlow(const Program& /*program*/, const CallGraph& graph)
    : graph_(graph), effects_(graph.functions().size()), states_(graph.functions().size()) {
  until_stable(effects_.size(), [&](std::size_t function, const auto& again) {
    states_[function] = entry_states(*graph.functions()[function]);
    Effects effects = effects_of(function);
    if (effects == effects_[function]) return;
    effects_[function] = std::move(effects);
    for (const std::size_t caller : graph.callers(function)) again(caller);
  });
  orders_later_.resize(effects_.size());
  for (std::size_t i = 0; i < effects_.size(); ++i)
    if (graph.functions()[i]->is_destructor) orders_later_[i] = find_orders_later(*graph.functions()[i]);
}

}  // namespace heddle::types
