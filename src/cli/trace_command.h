// The commands below `heddle trace`, one a file.
#pragma once

#include "cli/heddle.h"

namespace heddle {

void add_trace_info_command(CLI::App& trace, Commands& commands);
void add_trace_print_command(CLI::App& trace, Commands& commands);
void add_trace_convert_command(CLI::App& trace, Commands& commands);
void add_trace_generate_command(CLI::App& trace, Commands& commands);
void add_trace_reduce_command(CLI::App& trace, Commands& commands);

}  // namespace heddle
