// heddle trace: looking at trace files, translating and making them.
#include "cli/trace_command.h"

namespace heddle {

void add_trace_commands(CLI::App& root, Commands& commands) {
  CLI::App* app = root.add_subcommand("trace", "Look at trace files, translate them, make synthetic ones.");
  add_trace_info_command(*app, commands);
  add_trace_print_command(*app, commands);
  add_trace_convert_command(*app, commands);
  add_trace_generate_command(*app, commands);
  add_trace_reduce_command(*app, commands);
}

}  // namespace heddle
