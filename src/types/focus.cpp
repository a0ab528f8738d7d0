#include "types/focus.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "types/function_flow.h"
#include "types/path.h"

namespace heddle::types {

namespace {

constexpr std::string_view kFocusVersionLine = "heddle-focus 1";

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

}  // namespace

Focus make_focus(const Program& program, const CheckResult& result, FocusMode mode) {
  Focus focus;
  focus.mode = mode;
  focus.sources = program.sources;
  focus.taken = result.taken;
  for (const auto& [place, verdict] : result.fields) {
    if (verdict.is_proven()) focus.fields.insert(place);
    const bool is_about_locks = verdict.reason == Unsafe::kUnguarded || verdict.reason == Unsafe::kPassed ||
                                verdict.reason == Unsafe::kAssigned;
    if (mode != FocusMode::kField && is_about_locks && can_stand_in(program, place, verdict.owner))
      focus.guarded[place] = verdict.owner.lock;
  }
  for (const auto& [symbol, method] : result.methods) {
    if (method.is_library) continue;
    if (method.is_atomic()) focus.atomic.insert(method.name);
    if (!method.is_typed || mode == FocusMode::kField) continue;
    const std::optional<std::set<Focus::Required>> needs = required_by(method);
    // Whoever calls through a pointer does not know what is needed.
    if (!needs || (!needs->empty() && (method.is_called_unseen || program.functions.at(symbol).is_taken)))
      continue;
    focus.methods.insert(symbol);
    if (!needs->empty()) focus.required[symbol] = *needs;
  }
  return focus;
}

}  // namespace heddle::types
