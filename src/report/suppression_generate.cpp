// Suppressions for findings, for --gen-suppressions.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "report/location.h"
#include "report/suppression_match.h"
#include "report/suppressions.h"

namespace heddle {

namespace {

// Length of the character at the start of `text` if it may stand in a report and thus in TOML, else 0.
std::size_t printable_length(std::string_view text) {
  constexpr std::size_t kLongest = 4;  // bytes of a UTF-8 sequence
  for (std::size_t length = 1; length <= std::min(kLongest, text.size()); ++length)
    if (const std::string_view character = text.substr(0, length); printable(character) == character)
      return length;
  return 0;
}

// `text` as a pattern for itself in the next run. What fingerprints leave out becomes a wildcard: addresses
// ("0x7ffe…") and array indices ("[17]") change. So do control bytes, which cannot be written.
std::string pattern_for(std::string_view text) {
  std::string pattern;
  const auto skip = [&](std::string_view start, std::string_view digits) {
    pattern += start;
    const std::size_t end = std::min(text.find_first_not_of(digits, start.size()), text.size());
    if (end > start.size()) pattern += '*';
    text.remove_prefix(end);
  };
  while (!text.empty()) {
    if (text.starts_with("0x")) {
      skip("0x", "0123456789abcdefABCDEF");
    } else if (text.starts_with('[')) {
      skip("[", "0123456789");
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
  if (location.file.empty()) return pattern_for(step.frames.front());
  const std::string file = location.file.substr(location.file.rfind('/') + 1);
  if (location.function.empty()) return pattern_for(file + ":" + std::to_string(location.line));
  return pattern_for(file + ":* in " + location.function);  // survives lines moving
}

// The variable that every step accesses, as a pattern; empty when there is no such one.
std::string common_variable(const Finding& finding) {
  std::string variable;
  for (const Step& step : finding.steps) {
    const std::string its = is_access(step) ? pattern_for(operand(step)) : "";
    if (its.empty() || (!variable.empty() && its != variable)) return {};
    variable = its;
  }
  return variable;
}

// The first thing that a step works on, as a pattern.
std::string first_object(const Finding& finding) {
  for (const Step& step : finding.steps)
    if (!operand(step).empty()) return pattern_for(operand(step));
  return {};
}

Suppression suppression_for(const Finding& finding) {
  Suppression suppression;
  suppression.rule = finding.rule->id;
  for (const Step& step : finding.steps)
    if (std::string pattern = pattern_for_step(step); !pattern.empty())
      suppression.frames.push_back(std::move(pattern));
  suppression.variable = common_variable(finding);
  // With nothing but a rule it would take out all findings of that rule.
  if (suppression.frames.empty() && suppression.variable.empty()) suppression.object = first_object(finding);
  suppression.reason = kReasonPlaceholder;
  return suppression;
}

std::string toml_text(const toml::node& node) {
  std::ostringstream text;
  text << toml::toml_formatter(node, toml::format_flags::allow_unicode_strings);
  return text.str();
}

std::string entry_text(const Suppression& suppression, const Finding& finding) {
  std::string text = fmt::format("# {}: {}\n[[suppress]]\n", finding.rule->title, printable(finding.message));
  const auto add_line = [&](std::string_view key, const toml::node& value) {
    text += fmt::format("{} = {}\n", key, toml_text(value));
  };
  const auto add_text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) add_line(key, toml::value(value));
  };
  add_text("rule", suppression.rule);
  if (!suppression.frames.empty()) {
    toml::array frames;
    for (const std::string& frame : suppression.frames) frames.push_back(frame);
    add_line("frames", frames);
  }
  add_text("variable", suppression.variable);
  add_text("object", suppression.object);
  add_text("reason", suppression.reason);
  return text;
}

}  // namespace

std::string generate_suppressions(const std::vector<Finding>& findings) {
  std::string text;
  std::vector<Suppression> entries;
  SuppressionIndex index;
  for (const Finding& finding : findings) {
    const FindingTexts texts(finding);
    const std::vector<std::size_t> candidates = index.candidates(texts);
    if (std::any_of(candidates.begin(), candidates.end(),
                    [&](std::size_t i) { return matches(entries[i], texts); }))
      continue;
    if (!text.empty()) text += '\n';
    entries.push_back(suppression_for(finding));
    index.add(entries.back(), entries.size() - 1);
    text += entry_text(entries.back(), finding);
  }
  return text;
}

}  // namespace heddle
