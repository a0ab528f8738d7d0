// heddle trace convert: from any format Heddle reads to the text format or to its own.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/trace_command.h"
#include "cli/trace_sink.h"
#include "import/open_trace.h"
#include "trace/well_formed.h"

namespace heddle {

namespace {

struct ConvertArguments {
  std::string input;
  std::string output;
  std::string to;  // empty: the name of the output decides
};

int convert(const ConvertArguments& arguments) {
  const std::unique_ptr<TraceSource> source = open_trace(arguments.input);
  const std::unique_ptr<TraceSink> sink = make_trace_sink(arguments.output, arguments.to);
  WellFormed well_formed;
  uint64_t events = 0;
  {
    Progress progress("converting " + printable(input_name(arguments.input)));
    for (EventBatch batch = source->next(); !batch.empty(); batch = source->next()) {
      // Written first, because the check takes nested locking out of the batch. A trace that turns out to be
      // ill formed leaves no file behind all the same.
      sink->write(batch, source->names());
      well_formed.process(batch, *source);
      events += batch.events.size();
      progress.update(events, *source);
    }
  }
  sink->finish();
  if (const std::string note = source->note(); !note.empty())
    fmt::print(stderr, "heddle: note: {}\n", printable(note));
  return kExitClean;
}

}  // namespace

void add_trace_convert_command(CLI::App& trace, Commands& commands) {
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App* app = trace.add_subcommand("convert", "Translate a trace from one format to another.");
  add_text(*app, "FILE", arguments->input, kFileType, "A trace of any format; '-' is standard input.")
      ->required();
  add_text(
      *app, "--output,-o", arguments->output, kFileType,
      "The file to write, '-' for standard output. May be the input itself: it is replaced once all is done.")
      ->required();
  add_choice(*app, "--to", arguments->to, kTraceFormats,
             "The format to write. Default: binary when the output's name ends in .heddle, else text.");
  app->footer(R"(Examples:
  heddle trace convert run.std --output run.heddle     smaller, and faster to check
  heddle trace convert run.heddle --output run.std     for people and for other tools
)");
  commands.push_back({app, [arguments] { return convert(*arguments); }});
}

}  // namespace heddle
