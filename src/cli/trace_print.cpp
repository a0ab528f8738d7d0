// heddle trace print: the events of a trace in the text format.
#include <fmt/format.h>
#include <unistd.h>

#include <limits>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/trace_command.h"
#include "import/open_trace.h"
#include "trace/text_writer.h"

namespace heddle {

namespace {

struct PrintArguments {
  std::string file;
  uint64_t from = 0;                                      // index of the first event to print
  uint64_t count = std::numeric_limits<uint64_t>::max();  // how many to print at most
  std::string thread;                                     // only this one's; empty: all
};

bool has_thread(const Names& names, std::string_view name) {
  const uint32_t threads = names.table(Space::kThread).size();
  for (ThreadId thread = 0; thread < threads; ++thread)
    if (names.thread(thread) == name) return true;
  return false;
}

int print(const PrintArguments& arguments) {
  const std::unique_ptr<TraceSource> source = open_trace(arguments.file);
  OutputFile out("-");
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  uint64_t left = arguments.count;
  for (EventBatch batch = source->next(); left > 0 && !batch.empty(); batch = source->next()) {
    for (std::size_t i = 0; i < batch.events.size() && left > 0; ++i) {
      const Event& event = batch.events[i];
      if (!arguments.thread.empty() && source->names().thread(event.thread) != arguments.thread) continue;
      if (batch.first + i < arguments.from) continue;
      const std::string line = event_text(event, source->names());
      // What another program reads stays as it is; what a terminal shows must not drive it.
      out.write(terminal ? printable(line) : line);
      out.write("\n");
      --left;
    }
  }
  out.commit();
  // Only a trace that was read to its end can be said not to have a thread.
  if (left > 0 && !arguments.thread.empty() && !has_thread(source->names(), arguments.thread))
    throw InputError(fmt::format("{}: no thread is named '{}'; 'heddle trace info' lists the threads",
                                 input_name(arguments.file), arguments.thread));
  return kExitClean;
}

}  // namespace

void add_trace_print_command(CLI::App& trace, Commands& commands) {
  auto arguments = std::make_shared<PrintArguments>();
  CLI::App* app = trace.add_subcommand("print", "Print events in the text format.");
  add_text(*app, "FILE", arguments->file, kFileType, "A trace of any format; '-' is standard input.")
      ->required();
  constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  add_number(*app, "--from", arguments->from, 0, kAny, "Index of the first event to print, from 0.");
  add_number(*app, "--count,-n", arguments->count, 0, kAny,
             "How many events to print at most. Default: all.");
  add_text(*app, "--thread,-t", arguments->thread, "NAME", "Only the events of this thread.");
  app->footer(R"(Examples:
  heddle trace print run.heddle | less
  heddle trace print run.heddle --from 12000 --count 20    around event 12000 of a report
  heddle trace print run.heddle --thread T2
)");
  commands.push_back({app, [arguments] { return print(*arguments); }});
}

}  // namespace heddle
