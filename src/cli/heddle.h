// The command line as a whole: which commands there are, how one is chosen and how it ends.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace heddle {

// A command the user can run: a leaf of the tree of subcommands.
struct Command {
  CLI::App* app;             // its options; where its help, manual and completion come from
  std::function<int()> run;  // does the work once the options are parsed; returns the exit code
};

using Commands = std::vector<Command>;

// Each adds one command (or a group of them) below `root`. A new command is a file and a line in heddle.cpp.
void add_check_command(CLI::App& root, Commands& commands);
void add_run_command(CLI::App& root, Commands& commands);
void add_record_command(CLI::App& root, Commands& commands);
void add_try_command(CLI::App& root, Commands& commands);
void add_spec_command(CLI::App& root, Commands& commands);
void add_types_commands(CLI::App& root, Commands& commands);
void add_trace_commands(CLI::App& root, Commands& commands);
void add_report_command(CLI::App& root, Commands& commands);
void add_explain_command(CLI::App& root, Commands& commands);
void add_completion_command(CLI::App& root, Commands& commands);
void add_manual_command(CLI::App& root, Commands& commands);

// Runs heddle with the arguments of main() and returns its exit code. Throws nothing.
int run_heddle(int argc, const char* const* argv);

}  // namespace heddle
