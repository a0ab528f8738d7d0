// heddle completion: a completion script for the shell, made from the tree of commands.
#include <fmt/format.h>

#include "base/file.h"
#include "cli/exit_code.h"
#include "cli/heddle.h"
#include "cli/options.h"

namespace heddle {

namespace {

// `words` as one word of the shell.
std::string shell_words(const std::vector<std::string>& words) {
  return fmt::format("'{}'", fmt::join(words, " "));
}

// What to offer after an option that takes a value. `--x` and `-x` share a case.
std::string value_case(const CLI::App& app, const CLI::Option& option) {
  std::vector<std::string> patterns;
  for (const std::string& name : long_names(option))
    patterns.push_back(fmt::format("'{} {}'", full_name(app), name));
  for (const std::string& name : option.get_snames())
    patterns.push_back(fmt::format("'{} -{}'", full_name(app), name));
  const std::string type = value_type(option);
  std::string action = ":";
  if (type == kFileType) {
    action = "_heddle_files";
  } else if (type == kCheckersType) {
    action = fmt::format("_heddle_list {}", shell_words(known_values(option)));
  } else if (const std::vector<std::string> values = known_values(option); !values.empty()) {
    action = fmt::format("_heddle_words {}", shell_words(values));
  }
  return fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, " | "), action);
}

void add_value_cases(const CLI::App& app, std::string& script) {
  for (const CLI::Option* option : flags_of(app))
    if (!value_type(*option).empty()) script += value_case(app, *option);
  for (const CLI::App* command : subcommands_of(app)) add_value_cases(*command, script);
}

void add_word_cases(const CLI::App& app, std::string& script) {
  std::vector<std::string> options;
  for (const CLI::Option* option : flags_of(app))
    for (const std::string& name : long_names(*option)) options.push_back(name);
  std::vector<std::string> words;
  for (const CLI::App* command : subcommands_of(app)) words.push_back(command->get_name());
  bool files = false;
  for (const CLI::Option* positional : positionals_of(app)) {
    files = files || value_type(*positional) == kFileType;
    for (const std::string& value : known_values(*positional)) words.push_back(value);
  }
  script += fmt::format("    '{}') options={} words={} files={} ;;\n", full_name(app), shell_words(options),
                        shell_words(words), files ? "yes" : "");
  for (const CLI::App* command : subcommands_of(app)) add_word_cases(*command, script);
}

void add_command_paths(const CLI::App& app, std::vector<std::string>& paths) {
  for (const CLI::App* command : subcommands_of(app)) {
    paths.push_back(fmt::format("'{}'", full_name(*command)));
    add_command_paths(*command, paths);
  }
}

std::string bash_completion(const CLI::App& root) {
  std::string value_cases;
  add_value_cases(root, value_cases);
  std::string word_cases;
  add_word_cases(root, word_cases);
  std::vector<std::string> paths;
  add_command_paths(root, paths);
  return fmt::format(R"(# Completion of heddle for bash, made by 'heddle completion bash'. Load it with
#   source <(heddle completion bash)

_heddle_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }}

_heddle_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$current")
}}

# A list separated by commas: completes its last item.
_heddle_list() {{
  local done=
  [[ $current == *,* ]] && done=${{current%,*}},
  mapfile -t COMPREPLY < <(compgen -P "$done" -W "$1" -- "${{current##*,}}")
  compopt -o nospace 2>/dev/null
}}

_heddle() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=heddle word options words files
  COMPREPLY=()
  # bash makes '=' a word of its own.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD - 1}}"; do
    case "$command $word" in
      {}) command+=" $word" ;;
    esac
  done
  case "$command $before" in
{}  esac
  case "$command" in
{}  esac
  if [[ $current == -* ]]; then
    _heddle_words "$options"
  elif [[ $files ]]; then
    _heddle_files
  else
    _heddle_words "$words"
  fi
}}

complete -F _heddle heddle ./heddle
)",
                     fmt::join(paths, " | "), value_cases, word_cases);
}

}  // namespace

void add_completion_command(CLI::App& root, Commands& commands) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app =
      root.add_subcommand("completion", "Print a script that completes heddle's commands and options.");
  add_choice(*app, "SHELL", *shell, "bash", "Which shell's: bash.")->required();
  app->footer(R"(Examples:
  source <(heddle completion bash)    for this shell; in ~/.bashrc for every one
)");
  // `shell` has but one value; the command keeps it alive for the option, which writes to it.
  commands.push_back({app, [&root, shell] {
                        OutputFile out("-");
                        out.write(bash_completion(root));
                        out.commit();
                        return kExitClean;
                      }});
}

}  // namespace heddle
