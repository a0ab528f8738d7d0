// Running a command whose checked programs find us as their monitor.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "live/listener.h"

namespace heddle {

struct CommandEnd {
  int exit_code = 0;         // as a shell tells it: 128 and the signal's number when a signal ended it
  std::string signal;        // which, in words; empty: none
  bool any_checked = false;  // some program connected
};

// What to do with a checked program until it ends; `program` is its name.
using ServeProgram = std::function<void(Connection& connection, const std::string& program)>;

// Runs the command until it and all checked programs that came of it have ended. Each is served on a thread
// of its own. `preload` is the command's LD_PRELOAD; empty: as ours. Throws InputError when there is no such
// command, and what `serve` throws, after the end.
// `look` is called with the command's process now and then while it runs.
CommandEnd run_command_served(const std::vector<std::string>& command, const std::string& preload,
                              const ServeProgram& serve, const std::function<void(pid_t)>& look = {});

// What the terminal sends goes to the program; we stay to report.
void outlive_the_program();

// The name of a process's program; `otherwise` where that is not known.
std::string program_of(pid_t pid, const std::string& otherwise);

}  // namespace heddle
