// heddle trace generate: synthetic traces of any length, the same for the same options on every machine.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/trace_command.h"
#include "cli/trace_sink.h"
#include "trace/synthetic.h"

namespace heddle {

namespace {

struct GenerateArguments {
  std::string shape{synthetic_shapes().front().name};
  std::string output = "-";
  std::string to;  // empty: the name of the output decides
  // The numbers of SyntheticOptions, as wide as the command line reads them.
  uint64_t seed = SyntheticOptions{}.seed;
  uint64_t events = SyntheticOptions{}.events;
  uint64_t threads = SyntheticOptions{}.threads;
  uint64_t variables = SyntheticOptions{}.variables;
  uint64_t locks = SyntheticOptions{}.locks;
  uint64_t block_length = SyntheticOptions{}.block_length;
  uint64_t burst = SyntheticOptions{}.burst;
};

int generate(const GenerateArguments& arguments) {
  SyntheticOptions options;
  options.shape = find_synthetic_shape(arguments.shape);
  options.seed = arguments.seed;
  options.events = arguments.events;
  options.threads = static_cast<uint32_t>(arguments.threads);
  options.variables = static_cast<uint32_t>(arguments.variables);
  options.locks = static_cast<uint32_t>(arguments.locks);
  options.block_length = static_cast<uint32_t>(arguments.block_length);
  options.burst = static_cast<uint32_t>(arguments.burst);
  SyntheticTrace trace(options);
  const std::unique_ptr<TraceSink> sink = make_trace_sink(arguments.output, arguments.to);
  uint64_t events = 0;
  {
    Progress progress("generating");
    for (EventBatch batch = trace.next(); !batch.empty(); batch = trace.next()) {
      sink->write(batch, trace.names());
      events += batch.events.size();
      progress.update(events, trace);
    }
  }
  sink->finish();
  return kExitClean;
}

std::string shape_names() {
  std::string names;
  for (const SyntheticShapeInfo& shape : synthetic_shapes()) {
    if (!names.empty()) names += '|';
    names += shape.name;
  }
  return names;
}

std::string footer() {
  std::string text = "Shapes:\n";
  for (const SyntheticShapeInfo& shape : synthetic_shapes())
    text += fmt::format("  {:<18} {}\n", shape.name, shape.brief);
  text += R"(
Examples:
  heddle trace generate --events 10M --output big.heddle
  heddle trace generate --shape late-violation --events 1M --output late.heddle && heddle check late.heddle
)";
  return text;
}

}  // namespace

void add_trace_generate_command(CLI::App& trace, Commands& commands) {
  auto arguments = std::make_shared<GenerateArguments>();
  GenerateArguments& a = *arguments;
  constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  constexpr uint64_t kMost = 1'000'000'000;  // of what gets a 32-bit id
  CLI::App* app =
      trace.add_subcommand("generate", "Make a synthetic trace, well formed and repeatable by its seed.");
  const auto number = [app](const char* name, uint64_t& value, uint64_t least, uint64_t most,
                            std::string_view what) {
    add_number(*app, name, value, least, most, fmt::format("{} Default: {}.", what, value));
  };
  add_choice(*app, "--shape", a.shape, shape_names(),
             fmt::format("What the threads do, see below. Default: {}.", a.shape));
  number("--seed", a.seed, 0, kAny, "Another seed is another trace of the same shape.");
  number("--events", a.events, 1, kAny, "Length of the trace, exactly; 10M stands for ten million.");
  number("--threads", a.threads, 1, kMost, "Threads, besides the main one.");
  number("--variables", a.variables, 1, kMost, "Variables.");
  number("--locks", a.locks, 0, kMost, "Locks; 0: eight per thread.");
  number("--block-length", a.block_length, 1, kMost, "Mean number of accesses in a block.");
  number("--burst", a.burst, 1, kMost, "Mean number of events between two switches of the thread.");
  add_text(*app, "--output,-o", a.output, kFileType, "The file to write. Default: standard output.");
  add_choice(*app, "--to", a.to, kTraceFormats,
             "The format to write. Default: binary when the output's name ends in .heddle, else text.");
  app->footer(footer());
  commands.push_back({app, [arguments] { return generate(*arguments); }});
}

}  // namespace heddle
