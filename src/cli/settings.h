// Options that do not come from the command line: the environment variable HEDDLE_OPTIONS and the config
// file.
//
// Both can set any long option of a command. What is given on the command line wins over HEDDLE_OPTIONS, and
// that over the config file; a name that no command has is always an error, whatever command runs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace heddle {

// The config file that is used when none is named and there is one in the current directory.
inline constexpr const char* kConfigFile = "heddle.toml";

// Gives `command` the options that `text` ("k=v:k=v", the value of HEDDLE_OPTIONS) sets and it does not have
// yet. Names that only other commands know are passed over. Throws InputError.
void apply_environment(CLI::App& command, const std::string& text);

// The same for a TOML file with a table for each command ([check], [trace.generate]). Throws InputError.
void apply_config_file(CLI::App& command, const std::string& path);
// The same for its text; `name` stands for the file in messages.
void apply_config(CLI::App& command, std::string_view text, const std::string& name);

}  // namespace heddle
