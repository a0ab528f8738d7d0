// heddle man: the manual page, made from the tree of commands.
#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/heddle.h"
#include "cli/options.h"

namespace heddle {

namespace {

// `text` as troff takes it: no line begins a request, a dash is a dash, and what is not ASCII goes by name.
std::string roff(std::string_view text) {
  std::string result;
  bool line_start = true;
  while (!text.empty()) {
    if (line_start && (text.front() == '.' || text.front() == '\'')) result += "\\&";
    std::size_t length = 1;
    if (text.front() == '\\') {
      result += "\\e";
    } else if (text.front() == '-') {
      result += "\\-";
    } else if (text.front() == '\'') {
      result += "\\(aq";
    } else if (text.starts_with("…")) {
      result += "\\&...";
      length = std::string_view("…").size();
    } else {
      result += text.front();
    }
    line_start = text.front() == '\n';
    text.remove_prefix(length);
  }
  return result;
}

// A footer: lines that end in a colon are headings, what is below them stands as it is.
void add_footer(std::string& page, std::string_view footer) {
  bool open = false;
  for (const std::string_view line : split(footer, "\n")) {
    const bool heading = !line.empty() && line.front() != ' ';
    if (heading || line.empty()) {
      if (open) page += ".fi\n.RE\n";
      open = false;
    }
    if (heading) {
      page += fmt::format(".PP\n{}\n.RS 4\n.nf\n", roff(line));
      open = true;
    } else if (!line.empty()) {
      page += roff(line.substr(std::min<std::size_t>(line.find_first_not_of(' '), 2))) + "\n";
    }
  }
  if (open) page += ".fi\n.RE\n";
}

void add_entry(std::string& page, const std::string& name, const std::string& description) {
  page += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(description));
}

void add_command(std::string& page, const CLI::App& app) {
  if (const auto commands = subcommands_of(app); !commands.empty()) {
    for (const CLI::App* command : commands) add_command(page, *command);
    return;
  }
  page += fmt::format(".SS {}\n{}\n", roff(usage_line(app)), roff(app.get_description()));
  for (const CLI::Option* option : positionals_of(app))
    add_entry(page, option->get_name(true), option->get_description());
  for (const CLI::Option* option : flags_of(app))
    add_entry(page, option_synopsis(*option), option->get_description());
  add_footer(page, app.get_footer());
}

std::string manual_page(const CLI::App& root) {
  std::string page = fmt::format(".TH HEDDLE 1 \"\" \"heddle {}\" \"User Commands\"\n", HEDDLE_VERSION);
  page += fmt::format(".SH NAME\nheddle \\- {}\n", roff(root.get_description()));
  page += ".SH SYNOPSIS\n.B heddle\nCOMMAND [OPTIONS] [ARGUMENTS]\n.SH OPTIONS\n";
  for (const CLI::Option* option : flags_of(root))
    add_entry(page, option_synopsis(*option), option->get_description());
  page += ".SH COMMANDS\n";
  for (const CLI::App* command : subcommands_of(root)) add_command(page, *command);
  page += ".SH NOTES\n";
  add_footer(page, root.get_footer());
  return page;
}

}  // namespace

void add_manual_command(CLI::App& root, Commands& commands) {
  CLI::App* app = root.add_subcommand("man", "Print the manual page.");
  app->footer(R"(Examples:
  heddle man | man -l -
)");
  commands.push_back({app, [&root] {
                        OutputFile out("-");
                        out.write(manual_page(root));
                        out.commit();
                        return kExitClean;
                      }});
}

}  // namespace heddle
