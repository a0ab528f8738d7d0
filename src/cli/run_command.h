// Running a program and checking it while it runs.
#pragma once

#include <string>
#include <vector>

#include "cli/report_options.h"

namespace heddle {

struct RunArguments {
  std::vector<std::string> command;  // the program and its arguments
  ReportOptions report;
  std::string spec;         // a file; empty: none
  bool sequential = false;  // run the specification of heddle/parallel.h, and check nothing
  uint64_t seed = 1;        // then: which of its runs
};

// How a checked program that runs by itself starts its monitor (runtime/connection.cpp).
struct MonitorArguments : RunArguments {
  bool only_settings = false;  // are they right?
  bool of_descendant = false;  // another process, above this one, was checked with the same settings
};

// Runs the program, reports, and returns the exit code. Throws InputError when there is no such program.
int run_program(const RunArguments& arguments);

// The option --spec.
void add_spec_option(CLI::App& app, std::string& spec);

// How the exit codes are explained below the help of commands that run programs.
std::string run_exit_codes_help();

}  // namespace heddle
