// The command line of this process, for reports that say how to repeat a run.
#pragma once

#include <string>

namespace heddle {

// As a shell takes it, with HEDDLE_OPTIONS in front where that is set; empty when the system does not tell.
std::string own_command_line();

}  // namespace heddle
