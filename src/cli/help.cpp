#include "cli/help.h"

#include <fmt/format.h>

#include "cli/options.h"

namespace heddle {

namespace {

constexpr std::size_t kColumn = 30;  // where descriptions start
constexpr std::size_t kWidth = 100;  // where they end

void add_entry(std::string& text, std::string_view name, std::string_view description) {
  std::string line = fmt::format("  {}", name);
  // A name that reaches into the second column has the line to itself.
  if (line.size() + 2 > kColumn) {
    text += line + "\n";
    line.clear();
  }
  for (const std::string& part : wrap(description, kWidth - kColumn)) {
    text += fmt::format("{:<{}}{}\n", line, kColumn, part);
    line.clear();
  }
}

}  // namespace

std::string help_text(const CLI::App& app) {
  std::string text = fmt::format("Usage: {}\n\n", usage_line(app));
  for (const std::string& line : wrap(app.get_description(), kWidth)) text += line + "\n";
  if (const auto commands = subcommands_of(app); !commands.empty()) {
    text += "\nCommands:\n";
    for (const CLI::App* command : commands) add_entry(text, command->get_name(), command->get_description());
  }
  if (const auto positionals = positionals_of(app); !positionals.empty()) {
    text += "\nArguments:\n";
    for (const CLI::Option* option : positionals)
      add_entry(text, option->get_name(true), option->get_description());
  }
  text += "\nOptions:\n";
  for (const CLI::Option* option : flags_of(app))
    add_entry(text, option_synopsis(*option), option->get_description());
  if (const std::string footer = app.get_footer(); !footer.empty()) text += "\n" + footer;
  return text;
}

}  // namespace heddle
