// How `--help` looks.
#pragma once

#include <CLI/CLI.hpp>

namespace heddle {

// Usage, description, arguments, options and subcommands in two columns, then the footer as it is.
std::string help_text(const CLI::App& app);

}  // namespace heddle
