#include "cli/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/options.h"
#include "report/toml_document.h"

namespace heddle {

namespace {

// A value for an option, and where it was set ("HEDDLE_OPTIONS", "heddle.toml:3").
struct Setting {
  std::string name;                 // long name without dashes
  std::vector<std::string> values;  // several for an option that can be given several times
  std::string where;
};

// Help is not a setting.
bool can_be_set(const CLI::Option& option) {
  return option.get_configurable() && !option.get_lnames().empty();
}

// Such options take an array in a config file, also an empty one: no value at all.
bool can_be_repeated(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

CLI::Option* find_option(CLI::App& command, const std::string& name) {
  CLI::Option* option = command.get_option_no_throw("--" + name);
  return option != nullptr && can_be_set(*option) ? option : nullptr;
}

const CLI::App& root_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app : root_of(*app.get_parent());
}

void collect_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : flags_of(app))
    if (can_be_set(*option)) names.push_back(option->get_lnames().front());
  for (const CLI::App* command : subcommands_of(app)) collect_names(*command, names);
}

// The option of that name that the command has, or else some other.
const CLI::Option* find_anywhere(const CLI::App& command, const CLI::App& app, const std::string& name) {
  for (const CLI::App* place : {&command, &app})
    if (const CLI::Option* option = place->get_option_no_throw("--" + name);
        option != nullptr && can_be_set(*option))
      return option;
  for (const CLI::App* below : subcommands_of(app))
    if (const CLI::Option* option = find_anywhere(command, *below, name); option != nullptr) return option;
  return nullptr;
}

// One that can be given for it: "all", "10", "FILE".
std::string example_for(const CLI::Option& option) {
  if (const std::vector<std::string> known = known_values(option); !known.empty()) return known.front();
  return value_type(option) == kNumberType ? "10" : value_type(option);
}

std::string toml_example(const CLI::Option& option) {
  const std::string value = example_for(option);
  return value_type(option) == kNumberType ? value : fmt::format("\"{}\"", value);
}

[[noreturn]] void refuse_name(std::string_view where, std::string_view what, std::string_view name,
                              const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  throw InputError(fmt::format("{}: unknown {} '{}'{}", where, what, printable(name),
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

// Sets the options that have no value yet; a later source therefore never overrides an earlier one.
void set_missing_options(CLI::App& command, const std::vector<Setting>& settings) {
  std::map<CLI::Option*, std::string> set_here;  // and where
  for (const Setting& setting : settings) {
    CLI::Option* option = find_option(command, setting.name);
    if (option == nullptr || (option->count() > 0 && !set_here.contains(option))) continue;
    set_here[option] = setting.where;
    for (const std::string& value : setting.values) option->add_result(value);
  }
  for (const auto& [option, where] : set_here) {
    try {
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      throw InputError(fmt::format("{}: {}", where, explanation_of(error)));
    }
  }
}

std::string value_text(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  throw InputError(
      fmt::format("{}: expected a string, a whole number, true or false, or an array of those", where));
}

std::string position(const std::string& path, const toml::node& node) {
  return fmt::format("{}:{}", path, node.source().begin.line);
}

// Checks every table of the file against the tree of commands; returns the settings for `command`.
std::vector<Setting> read_table(const toml::table& table, const CLI::App& app, const CLI::App& command,
                                const std::string& path) {
  std::vector<std::string> options;
  for (const CLI::Option* option : flags_of(app))
    if (can_be_set(*option)) options.push_back(option->get_lnames().front());
  std::vector<std::string> tables;
  for (const CLI::App* sub : subcommands_of(app)) tables.push_back(sub->get_name());

  std::vector<Setting> settings;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const std::string where = fmt::format("{}:{}", path, key.source().begin.line);
    if (const toml::table* inner = node.as_table()) {
      const CLI::App* sub = find_subcommand(app, name);
      if (sub == nullptr) refuse_name(where, "table", name, tables);
      for (Setting& setting : read_table(*inner, *sub, command, path)) settings.push_back(std::move(setting));
      continue;
    }
    if (options.empty() && name == "suppress")
      throw InputError(fmt::format(
          "{}: suppressions have a file of their own, such as known.toml: move them there and name it with "
          "--suppressions known.toml, or here with suppressions = [\"known.toml\"] under [check]",
          where));
    if (options.empty())
      throw InputError(fmt::format("{}: '{}' stands outside of a command's table, such as [check]", where,
                                   printable(name)));
    if (std::find(options.begin(), options.end(), name) == options.end())
      refuse_name(where, "option", name, options);
    if (name == "config")
      throw InputError(fmt::format("{}: a config file cannot name another; --config can", where));
    const CLI::Option& option = *app.get_option("--" + name);
    if (node.is_boolean() && !value_type(option).empty())
      throw InputError(fmt::format("{}: '{}' is not switched on or off, but needs a value, such as {} = {}",
                                   where, name, name, toml_example(option)));
    Setting setting{name, {}, where};
    if (const toml::array* values = node.as_array()) {
      if (!can_be_repeated(option))
        throw InputError(fmt::format("{}: '{}' takes one value, not an array", where, name));
      for (const toml::node& value : *values)
        setting.values.push_back(value_text(value, position(path, value)));
    } else {
      setting.values.push_back(value_text(node, where));
    }
    // What is meant for another command must be right too, and is then left alone.
    if (&app == &command && !setting.values.empty()) settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace

void apply_environment(CLI::App& command, const std::string& text) {
  constexpr std::string_view kWhere = "HEDDLE_OPTIONS";
  std::vector<std::string> known;
  collect_names(root_of(command), known);
  std::vector<Setting> settings;
  for (const std::string_view item : split(text, ":")) {
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    const std::string name(item.substr(0, equals));
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse_name(kWhere, "option", name, known);
    const std::string value(equals == std::string_view::npos ? "true" : item.substr(equals + 1));
    const CLI::Option& option = *find_anywhere(command, root_of(command), name);
    if ((equals == std::string_view::npos || value.empty()) && !value_type(option).empty())
      throw InputError(
          fmt::format("{}: '{}' needs a value, such as {}={}", kWhere, name, name, example_for(option)));
    settings.push_back({name, {value}, std::string(kWhere)});
  }
  set_missing_options(command, settings);
}

void apply_config_file(CLI::App& command, const std::string& path) {
  apply_config(command, read_whole_file(path), path);
}

void apply_config(CLI::App& command, std::string_view text, const std::string& name) {
  const toml::table table = parse_toml(text, name);
  set_missing_options(command, read_table(table, root_of(command), command, name));
}

}  // namespace heddle
