// heddle trace reduce: a trace without what proofs make superfluous for `blocks` and `reduction` (S4 §6.2).
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/trace_command.h"
#include "cli/trace_sink.h"
#include "import/open_trace.h"
#include "trace/reduced_blocks.h"
#include "trace/well_formed.h"
#include "types/focus.h"

namespace heddle {

namespace {

struct ReduceArguments {
  std::string input;
  std::string focus;
  std::string output;
  std::string to;
};

int reduce(const ReduceArguments& arguments) {
  const types::Focus focus =
      types::Focus::parse(read_whole_file(arguments.focus), input_name(arguments.focus));
  const std::unique_ptr<TraceSource> source = open_trace(arguments.input);
  const std::unique_ptr<TraceSink> sink = make_trace_sink(arguments.output, arguments.to);
  WellFormed well_formed;
  std::vector<Event> events;
  for (EventBatch batch = source->next(); !batch.empty(); batch = source->next()) {
    well_formed.process(batch, *source);
    for (const Event& event : batch.events)
      if (event.operation != Operation::kNested) events.push_back(event);
  }
  const std::size_t before = events.size();
  const Names& names = source->names();
  events = with_reduced_blocks(events, [&](uint32_t block) {
    return focus.atomic.contains(std::string(names.name(Space::kBlock, block)));
  });
  sink->write({0, events}, names);
  sink->finish();
  fmt::print(stderr, "heddle: {} of {} are left\n", events.size(), counted(before, "event"));
  return kExitClean;
}

}  // namespace

void add_trace_reduce_command(CLI::App& trace, Commands& commands) {
  auto arguments = std::make_shared<ReduceArguments>();
  CLI::App* app = trace.add_subcommand(
      "reduce", "Replace what blocks did that are proven atomic by the least that others can meet.");
  add_text(*app, "FILE", arguments->input, kFileType, "A trace of any format; '-' is standard input.")
      ->required();
  add_text(*app, "--focus", arguments->focus, kFileType,
           "The focus file of the program ('heddle focus'), which names the methods that are proven atomic.")
      ->required();
  add_text(*app, "--output,-o", arguments->output, kFileType, "The file to write, '-' for standard output.")
      ->required();
  add_choice(*app, "--to", arguments->to, kTraceFormats,
             "The format to write. Default: binary when the output's name ends in .heddle, else text.");
  app->footer(
      R"(For 'blocks' and 'reduction', which give the same verdict on the result. Record the trace of a build
without --heddle-focus: all accesses must be there.

Examples:
  heddle record -o run.heddle -- ./bank
  heddle trace reduce run.heddle --focus bank.focus -o less.heddle
  heddle check less.heddle --checkers blocks
)");
  commands.push_back({app, [arguments] { return reduce(*arguments); }});
}

}  // namespace heddle
