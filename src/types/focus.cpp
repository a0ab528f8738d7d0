#include "types/focus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "types/call_graph.h"
#include "types/function_flow.h"
#include "types/path.h"
#include "types/worklist.h"

namespace heddle::types {

namespace {

constexpr std::string_view kFocusVersionLine = "heddle-focus 2";

std::string_view name_of(FocusMode mode) {
  switch (mode) {
    case FocusMode::kField: return "field";
    case FocusMode::kMethod: return "method";
    case FocusMode::kCombined: return "combined";
  }
  return "";
}

}  // namespace

std::string Focus::text() const {
  std::string text = fmt::format("{}\nmode\t{}\n", kFocusVersionLine, name_of(mode));
  for (const auto& [path, hash] : sources) text += fmt::format("source\t{}\t{}\n", hash, path);
  for (const std::string& place : taken) text += fmt::format("taken\t{}\n", place);
  for (const std::string& place : fields) text += fmt::format("field\t{}\n", place);
  for (const std::string& symbol : methods) text += fmt::format("method\t{}\n", symbol);
  for (const std::string& name : atomic) text += fmt::format("atomic\t{}\n", name);
  for (const std::string& place : quiet) text += fmt::format("quiet\t{}\n", place);
  for (const AccessSpot& spot : exempt)
    text += fmt::format("exempt\t{}\t{}\t{}\n", spot.symbol, spot.site, spot.path);
  for (const auto& [place, lock] : guarded) text += fmt::format("guarded\t{}\t{}\n", place, lock);
  for (const auto& [symbol, needs] : required)
    for (const Required& need : needs)
      text += fmt::format("required\t{}\t{}\t{}\t{}\n", symbol, need.parameter, need.lock,
                          need.is_shared ? "shared" : "alone");
  return text;
}

Focus Focus::parse(std::string_view text, const std::string& file) {
  Focus focus;
  std::size_t number = 0;
  for (const std::string_view line : split(text, "\n")) {
    const std::string where = fmt::format("{}:{}", file, ++number);
    if (number == 1) {
      if (line != kFocusVersionLine)
        throw InputError(
            fmt::format("{}: no focus file: it does not begin with '{}'; 'heddle focus' makes one", where,
                        kFocusVersionLine));
      continue;
    }
    if (line.empty()) continue;
    const std::vector<std::string_view> words = split(line, "\t");
    if (words[0] == "mode" && words.size() == 2 &&
        (words[1] == "field" || words[1] == "method" || words[1] == "combined"))
      focus.mode = words[1] == "field"    ? FocusMode::kField
                   : words[1] == "method" ? FocusMode::kMethod
                                          : FocusMode::kCombined;
    else if (words[0] == "source" && words.size() == 3)
      focus.sources[std::string(words[2])] = words[1];
    else if (words[0] == "taken" && words.size() == 2)
      focus.taken.emplace(words[1]);
    else if (words[0] == "field" && words.size() == 2)
      focus.fields.emplace(words[1]);
    else if (words[0] == "method" && words.size() == 2)
      focus.methods.emplace(words[1]);
    else if (words[0] == "atomic" && words.size() == 2)
      focus.atomic.emplace(words[1]);
    else if (words[0] == "quiet" && words.size() == 2)
      focus.quiet.emplace(words[1]);
    else if (words[0] == "exempt" && words.size() == 4)
      focus.exempt.insert({std::string(words[1]), std::string(words[2]), std::string(words[3])});
    else if (words[0] == "guarded" && words.size() == 3)
      focus.guarded[std::string(words[1])] = words[2];
    else if (words[0] == "required" && words.size() == 5)
      focus.required[std::string(words[1])].insert(
          {static_cast<unsigned>(std::strtoul(std::string(words[2]).c_str(), nullptr, 10)),
           std::string(words[3]), words[4] == "shared"});
    else
      throw InputError(fmt::format("{}: '{}' is no line of a focus file", where, shortened(printable(line))));
  }
  return focus;
}

namespace {

// Whether the place and its lock lie in one object at known distances, so that the plug-in finds one from the
// other.
bool can_stand_in(const Program& program, const std::string& place, const Owner& owner) {
  if (place.ends_with(kElement) || place.find('/') != std::string::npos) return false;
  if (owner.kind == OwnerKind::kGlobal) return true;
  return owner.kind == OwnerKind::kSelf && program.member(place) != nullptr &&
         program.class_of(place) == program.class_of(owner.lock);
}

// What a typed method needs, if the plug-in can find it from the arguments of a call; nothing: it cannot.
std::optional<std::set<Focus::Required>> required_by(const MethodVerdict& method) {
  std::set<Focus::Required> all;
  for (std::string lock : method.needs) {
    Focus::Required need;
    need.is_shared = lock.ends_with(kShared);
    if (need.is_shared) lock.pop_back();
    const std::string_view root = root_of(lock);
    if (is_parameter(root)) {
      need.parameter = parameter_of(root);
      if (steps_of(lock).size() != 1) return std::nullopt;
    } else if (lock != root) {
      return std::nullopt;
    }
    need.lock = is_parameter(root) ? lock.substr(root.size() + 1) : lock;
    all.insert(need);
  }
  return all;
}

// A lock stands for what is accessed between where it is said to be used and where nothing orders threads
// yet: what comes later may be in a race though the lock's use is not.
class StandIns {
 public:
  StandIns(const Program& program, const CheckResult& result, const Focus& focus)
      : graph_(program), result_(result), focus_(focus), is_quiet_(graph_.functions().size(), true) {
    until_stable(is_quiet_.size(), [&](std::size_t i, const auto& again) {
      if (!is_quiet_[i] || is_quiet_now(i)) return;
      is_quiet_[i] = false;
      for (const std::size_t caller : graph_.callers(i)) again(caller);
    });
  }

  // Whether the method may use what locks guard without checks.
  bool is_covered(const Function& function, bool needs_locks) const {
    const std::size_t number = graph_.number_of(function);
    if (needs_locks) return is_quiet_[number];
    if (!uses_guarded(function)) return true;
    std::set<std::string> locks;
    for (const Block& block : function.blocks)
      for (const Operation& operation : block.operations) {
        if (operation.kind == OperationKind::kCall && !is_quiet_call(operation)) return false;
        if (!is_ordering(operation)) continue;
        const bool is_of_lock =
            operation.kind == OperationKind::kAcquire || operation.kind == OperationKind::kAcquireShared ||
            operation.kind == OperationKind::kRelease || operation.kind == OperationKind::kDrop;
        if (!is_of_lock) return false;
        locks.insert(operation.path);
      }
    return locks.size() <= 1;
  }

 private:
  static bool is_ordering(const Operation& operation) {
    return orders_threads(operation.kind) && operation.path != kNotifies;
  }
  bool is_quiet_call(const Operation& call) const {
    const std::vector<std::size_t>& targets = graph_.targets(call);
    return !targets.empty() &&
           std::all_of(targets.begin(), targets.end(), [&](std::size_t target) { return is_quiet_[target]; });
  }
  bool is_quiet_now(std::size_t number) const {
    for (const Block& block : graph_.functions()[number]->blocks)
      for (const Operation& operation : block.operations)
        if (is_ordering(operation) || (operation.kind == OperationKind::kCall && !is_quiet_call(operation)))
          return false;
    return true;
  }
  bool uses_guarded(const Function& function) const {
    const auto is_taken = [&](const std::string& place) { return result_.taken.contains(place); };
    for (const Block& block : function.blocks)
      for (const Operation& operation : block.operations) {
        if (operation.kind == OperationKind::kWholeRead || operation.kind == OperationKind::kWholeWrite)
          return true;
        if (operation.kind == OperationKind::kCall) {
          for (const std::size_t target : graph_.targets(operation))
            if (!result_.methods.at(graph_.functions()[target]->symbol).needs.empty()) return true;
          continue;
        }
        if (focus_.guarded.contains(normal_place(place_of(operation.path), is_taken))) return true;
      }
    return false;
  }

  CallGraph graph_;
  const CheckResult& result_;
  const Focus& focus_;
  std::vector<bool> is_quiet_;  // functions in which nothing orders threads
};

// Typed methods that may use what locks guard without checks, and what their callers must hold.
void add_methods(Focus& focus, const Program& program, const CheckResult& result) {
  const StandIns stand_ins(program, result, focus);
  for (const auto& [symbol, method] : result.methods) {
    if (method.is_library || !method.is_typed) continue;
    const std::optional<std::set<Focus::Required>> needs = required_by(method);
    // Whoever calls through a pointer does not know what is needed.
    if (!needs || (!needs->empty() && (method.is_called_unseen || program.functions.at(symbol).is_taken)))
      continue;
    if (!stand_ins.is_covered(program.functions.at(symbol), !needs->empty())) continue;
    focus.methods.insert(symbol);
    if (!needs->empty()) focus.required[symbol] = *needs;
  }
}

// Locks that stand for no more accesses, in the code, than there are places where they are said to be used
// themselves: to check what they guard is cheaper.
std::set<std::string> locks_that_save_nothing(const Focus& focus, const Program& program,
                                              const CheckResult& result) {
  const auto is_taken = [&](const std::string& place) { return result.taken.contains(place); };
  std::map<std::string, long> saved;  // checks, by lock
  for (const auto& [place, lock] : focus.guarded) saved[lock] = 0;
  for (const auto& [symbol, function] : program.functions)
    for (const Block& block : function.blocks)
      for (const Operation& operation : block.operations) {
        const std::string place = normal_place(place_of(operation.path), is_taken);
        const bool takes = operation.kind == OperationKind::kAcquire ||
                           operation.kind == OperationKind::kAcquireShared ||
                           operation.kind == OperationKind::kWait;
        if (takes && saved.contains(place)) --saved[place];
        if (operation.kind == OperationKind::kCall && !focus.methods.contains(symbol))
          if (const auto needs = focus.required.find(operation.callee); needs != focus.required.end())
            for (const Focus::Required& need : needs->second)
              if (saved.contains(need.lock)) --saved[need.lock];
        const bool is_access =
            operation.kind == OperationKind::kRead || operation.kind == OperationKind::kWrite;
        const auto guarded = focus.guarded.find(place);
        if (!is_access || guarded == focus.guarded.end() ||
            focus.exempt.contains({symbol, operation.site, operation.path}))
          continue;
        saved[guarded->second] += focus.methods.contains(symbol) ? 1 : -1;
      }
  std::set<std::string> locks;
  for (const auto& [lock, checks] : saved)
    if (checks <= 0) locks.insert(lock);
  return locks;
}

// What they guard is checked everywhere, so that nobody has to be asked whether he holds them.
void leave_out(const std::set<std::string>& locks, Focus& focus) {
  std::erase_if(focus.guarded, [&](const auto& entry) { return locks.contains(entry.second); });
  for (auto& [symbol, needs] : focus.required)
    std::erase_if(needs, [&](const Focus::Required& need) { return locks.contains(need.lock); });
  std::erase_if(focus.required, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace

Focus make_focus(const Program& program, const CheckResult& result, FocusMode mode) {
  Focus focus;
  focus.mode = mode;
  focus.sources = program.sources;
  focus.taken = result.taken;
  focus.exempt = result.exempt;
  if (!program.has_acquire_fences) focus.quiet = result.atomic_only;
  for (const auto& [place, verdict] : result.fields) {
    if (verdict.is_proven()) focus.fields.insert(place);
    const bool is_about_locks = verdict.reason == Unsafe::kUnguarded || verdict.reason == Unsafe::kPassed ||
                                verdict.reason == Unsafe::kAssigned;
    if (mode != FocusMode::kField && is_about_locks && can_stand_in(program, place, verdict.owner))
      focus.guarded[place] = verdict.owner.lock;
  }
  for (const auto& [symbol, method] : result.methods)
    if (!method.is_library && method.is_atomic()) focus.atomic.insert(method.name);
  if (mode != FocusMode::kField) add_methods(focus, program, result);
  if (mode == FocusMode::kCombined) leave_out(locks_that_save_nothing(focus, program, result), focus);
  return focus;
}

}  // namespace heddle::types
