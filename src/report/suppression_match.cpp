// What a suppression describes, and the suppression that describes a finding.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "report/glob.h"
#include "report/location.h"
#include "report/suppressions.h"

namespace heddle {

namespace {

// What a step works on: "balance" of "w(balance,5)". Empty when the operation has no operand.
std::string_view operand(const Step& step) {
  const std::string_view operation = step.operation;
  const std::size_t open = operation.find('(');
  if (open == std::string_view::npos) return {};
  const std::string_view rest = operation.substr(open + 1);
  return rest.substr(0, rest.find_first_of(",)"));
}

bool is_access(const Step& step) {
  const std::string_view spelling = std::string_view(step.operation).substr(0, step.operation.find('('));
  return std::any_of(kOperationInfo.begin(), kOperationInfo.end(), [&](const OperationInfo& operation) {
    return operation.spelling == spelling && operation.space == Space::kVariable;
  });
}

// A place is described also without the directories in front of it.
bool place_matches(const std::string& pattern, std::string_view place) {
  return glob_matches(pattern, place) || glob_matches("*/" + pattern, place);
}

bool frame_matches(const std::string& pattern, const std::string& frame) {
  if (place_matches(pattern, frame)) return true;
  const Location location = parse_location(frame);
  if (location.file.empty()) return false;
  return place_matches(pattern, location.place) || glob_matches(pattern, location.function) ||
         place_matches(pattern, location.file + ":" + std::to_string(location.line));
}

bool step_matches(const std::string& pattern, const Step& step) {
  if (!step.block.empty() && glob_matches(pattern, step.block)) return true;
  return std::any_of(step.frames.begin(), step.frames.end(),
                     [&](const std::string& frame) { return frame_matches(pattern, frame); });
}

bool frames_match(const std::vector<std::string>& patterns, const std::vector<Step>& steps) {
  if (patterns.empty()) return true;
  if (patterns.size() > steps.size()) return false;
  std::vector<std::vector<bool>> fits(patterns.size());  // by pattern, by step
  for (std::size_t p = 0; p < patterns.size(); ++p)
    for (const Step& step : steps) fits[p].push_back(step_matches(patterns[p], step));
  for (std::size_t first = 0; first < steps.size(); ++first) {
    std::size_t matched = 0;  // patterns that have found their step
    for (std::size_t i = 0; i < steps.size() && matched < patterns.size(); ++i)
      if (fits[matched][(first + i) % steps.size()]) ++matched;
    if (matched == patterns.size()) return true;
  }
  return false;
}

// Length of the character at the start of `text` if it may stand in a report and thus in TOML, else 0.
std::size_t printable_length(std::string_view text) {
  constexpr std::size_t kLongest = 4;  // bytes of a UTF-8 sequence
  for (std::size_t length = 1; length <= std::min(kLongest, text.size()); ++length)
    if (const std::string_view character = text.substr(0, length); printable(character) == character)
      return length;
  return 0;
}

// `text` as a pattern for itself in the next run: addresses change, and control bytes cannot be written.
std::string pattern_for(std::string_view text) {
  std::string pattern;
  while (!text.empty()) {
    if (text.starts_with("0x")) {
      pattern += "0x*";
      text.remove_prefix(std::min(text.find_first_not_of("0123456789abcdefABCDEF", 2), text.size()));
    } else if (const std::size_t length = printable_length(text); length > 0) {
      pattern += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      if (!pattern.ends_with('*')) pattern += '*';
      text.remove_prefix(1);
    }
  }
  return pattern;
}

std::string pattern_for_step(const Step& step) {
  if (step.frames.empty()) return pattern_for(step.block);
  const Location location = parse_location(step.frames.front());
  if (location.file.empty()) return pattern_for(location.place);
  const std::string file = location.file.substr(location.file.rfind('/') + 1);
  if (location.function.empty()) return pattern_for(file + ":" + std::to_string(location.line));
  return pattern_for(file + ":* in " + location.function);  // survives lines moving
}

// The variable that every step accesses; empty when there is no such one.
std::string_view common_variable(const Finding& finding) {
  std::string_view variable;
  for (const Step& step : finding.steps) {
    if (!is_access(step) || (!variable.empty() && operand(step) != variable)) return {};
    variable = operand(step);
  }
  return variable;
}

std::string toml_text(const toml::node& node) {
  std::ostringstream text;
  text << toml::toml_formatter(node, toml::format_flags::allow_unicode_strings);
  return text.str();
}

}  // namespace

bool matches(const Suppression& suppression, const Finding& finding) {
  if (finding.rule->id != suppression.rule) return false;
  const std::vector<Step>& steps = finding.steps;
  const auto accesses = [&](const Step& step) {
    return is_access(step) && glob_matches(suppression.variable, operand(step));
  };
  const auto works_on = [&](const Step& step) { return glob_matches(suppression.object, operand(step)); };
  if (!suppression.variable.empty() && std::none_of(steps.begin(), steps.end(), accesses)) return false;
  if (!suppression.object.empty() && std::none_of(steps.begin(), steps.end(), works_on)) return false;
  return frames_match(suppression.frames, steps);
}

std::string generate_suppression(const Finding& finding) {
  const auto line = [](std::string_view key, const toml::node& value) {
    return fmt::format("{} = {}\n", key, toml_text(value));
  };
  toml::array frames;
  for (const Step& step : finding.steps)
    if (const std::string pattern = pattern_for_step(step); !pattern.empty()) frames.push_back(pattern);

  std::string text = fmt::format("# {}: {}\n[[suppress]]\n", finding.rule->title, printable(finding.message));
  text += line("rule", toml::value(std::string(finding.rule->id)));
  if (!frames.empty()) text += line("frames", frames);
  if (const std::string_view variable = common_variable(finding); !variable.empty())
    text += line("variable", toml::value(pattern_for(variable)));
  text += line("reason", toml::value(std::string(kReasonPlaceholder)));
  return text;
}

}  // namespace heddle
