#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "checkers/registry.h"

namespace heddle {

namespace {

// The group of arguments that stand after '--'.
constexpr const char* kAfterMark = "after --";

// "--format" of a declaration "--format,-f".
std::string first_name(const std::string& declaration) {
  return declaration.substr(0, declaration.find(','));
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

std::vector<std::string> split_choices(const std::string& choices) {
  std::vector<std::string> result;
  for (const std::string_view choice : split(choices, "|")) result.emplace_back(choice);
  return result;
}

uint64_t parse_number(const std::string& name, const std::string& text, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  uint64_t scale = 1;
  if (rest != end && error == std::errc()) {
    const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    scale = suffix == "k" ? 1'000 : suffix == "M" ? 1'000'000 : suffix == "G" ? 1'000'000'000 : 0;
  }
  const bool fits = error == std::errc() && scale != 0 && value <= most / scale && value * scale >= least;
  if (fits) return value * scale;
  const bool is_too_large = error == std::errc::result_out_of_range || (scale != 0 && value > most / scale);
  const bool unbounded = most == std::numeric_limits<uint64_t>::max() && !is_too_large;
  throw CLI::ValidationError(name, fmt::format("'{}' is not a number {}", printable(text),
                                               unbounded ? fmt::format("of at least {}", least)
                                                         : fmt::format("from {} to {}", least, most)));
}

}  // namespace

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::string& choices, const std::string& description) {
  const auto take = [name = first_name(name), &value, choices](const std::string& text) {
    const std::vector<std::string> known = split_choices(choices);
    if (std::find(known.begin(), known.end(), text) == known.end())
      throw CLI::ValidationError(
          name, fmt::format("'{}' is not {}{}{}", printable(text), known.size() > 1 ? "one of " : "",
                            join_with_and(known), did_you_mean(text, known)));
    value = text;
  };
  return app.add_option_function<std::string>(name, take, description)
      ->type_name(choices)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_number(CLI::App& app, const std::string& name, uint64_t& value, uint64_t least,
                        uint64_t most, const std::string& description) {
  const auto take = [name = first_name(name), &value, least, most](const std::string& text) {
    value = parse_number(name, text, least, most);
  };
  return app.add_option_function<std::string>(name, take, description)
      ->type_name(kNumberType)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& type,
                      const std::string& description) {
  return app.add_option(name, value, description)
      ->type_name(type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                       const std::string& type, const std::string& description) {
  CLI::Option* option = app.add_option(name, values, description)->type_name(type);
  // Otherwise `--suppressions a.toml run.std` would take the trace for a second file of suppressions.
  if (!option->get_positional()) option->allow_extra_args(false);
  return option;
}

CLI::Option* add_arguments_after_mark(CLI::App& app, const std::string& name,
                                      std::vector<std::string>& values, const std::string& description) {
  return add_texts(app, name, values, name, description)->group(kAfterMark);
}

CLI::Option* arguments_after_mark(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_group() == kAfterMark) return option;
  return nullptr;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  // Those without a group are not for people.
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

const CLI::App* find_subcommand(const CLI::App& app, std::string_view name) {
  for (const CLI::App* command : subcommands_of(app))
    if (command->get_name() == name) return command;
  return nullptr;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::Option*> flags_of(const CLI::App& app) {
  const CLI::Option* help = app.get_help_ptr();
  std::vector<const CLI::Option*> flags = app.get_options(
      [help](const CLI::Option* option) { return !option->get_positional() && option != help; });
  if (help != nullptr) flags.push_back(help);
  return flags;
}

std::vector<std::string> long_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string value_type(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 ? "" : option.get_type_name();
}

std::vector<std::string> known_values(const CLI::Option& option) {
  const std::string type = value_type(option);
  if (!type.empty() && std::islower(static_cast<unsigned char>(type.front())) != 0)
    return split_choices(type);
  std::vector<std::string> values;
  if (type == kRuleType) {
    for (const Rule* rule : all_rules())
      values.insert(values.end(), {std::string(rule->id), std::string(rule->name)});
  }
  if (type == kCheckersType) {
    values.emplace_back("all");
    for (const CheckerEntry& checker : all_checkers()) values.emplace_back(checker.name);
  }
  return values;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

std::string usage_line(const CLI::App& app) {
  std::string line = full_name(app);
  if (!subcommands_of(app).empty()) return line + " COMMAND …";
  if (flags_of(app).size() > 1) line += " [OPTIONS]";
  for (const CLI::Option* positional : positionals_of(app)) {
    const std::string name =
        positional->get_name(true) + (positional->get_items_expected_max() > 1 ? "…" : "");
    if (positional->get_group() == kAfterMark) {
      line += fmt::format(" [-- {}]", name);
      continue;
    }
    line += positional->get_required() ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  return line;
}

std::string option_synopsis(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : long_names(option)) names.push_back(name);
  const std::string type = value_type(option);
  return fmt::format("{}{}{}", fmt::join(names, ", "), type.empty() ? "" : " ", type);
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string_view paragraph : split(text, "\n")) {
    lines.emplace_back();
    for (const std::string_view word : split(paragraph, " ")) {
      if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
      if (!lines.back().empty()) lines.back() += ' ';
      lines.back() += word;
    }
  }
  return lines;
}

std::string explanation_of(const CLI::ParseError& error) {
  std::string what = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return fmt::format("{}: a value is missing after it", first_name(what.substr(0, what.find(':'))));
  // Only flags are converted by CLI11; the other options take their text as it is.
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    return fmt::format("{}: expected true or false", what.substr(what.find("--")));
  return what;
}

void refuse_unknown_arguments(const CLI::App& app) {
  const auto left_over = [](const CLI::App& place) {
    std::vector<std::string> arguments = place.remaining();
    // CLI11 hands back the mark that ends the options as well.
    std::erase(arguments, "--");
    return arguments;
  };
  const std::vector<std::string> extra = left_over(app);
  // What a command does not take after the end of its options goes to the commands above it.
  for (const CLI::App* above = app.get_parent(); extra.empty() && above != nullptr;
       above = above->get_parent())
    if (const std::vector<std::string> more = left_over(*above); !more.empty())
      throw InputError(
          fmt::format("unexpected argument '{}'; usage: {}", printable(more.front()), usage_line(app)));
  if (extra.empty()) return;
  const std::string& first = extra.front();
  std::vector<std::string> known;
  const auto refuse = [&](std::string_view what, const std::string& word) {
    const std::string hint = did_you_mean(word, known);
    throw InputError(
        fmt::format("unknown {} '{}'{}", what, printable(word),
                    hint.empty() ? fmt::format("; '{} --help' lists what there is", full_name(app)) : hint));
  };
  if (first.size() > 1 && first.front() == '-') {
    for (const CLI::Option* option : flags_of(app))
      for (const std::string& name : long_names(*option)) known.push_back(name);
    refuse("option", first.substr(0, first.find('=')));
  }
  for (const CLI::App* command : subcommands_of(app)) known.push_back(command->get_name());
  if (!known.empty()) refuse("command", first);
  throw InputError(fmt::format("unexpected argument '{}'; usage: {}", printable(first), usage_line(app)));
}

}  // namespace heddle
