// One measurement: does one thing to one trace and prints a line of JSON about it. bench/run runs it once per
// cell of the table, so that peak memory belongs to that cell alone.
//
//   heddle_measure synthesize KEY=VALUE…      make a trace, keep nothing
//   heddle_measure write FILE KEY=VALUE…      make a trace and write it; .std is text, .heddle is binary
//   heddle_measure scan FILE                  count the lines, as wc -l does
//   heddle_measure read FILE                  read all events
//   heddle_measure check CHECKERS FILE [graph|clock] [filter|nofilter]
//                                             read, check for well-formedness, run the checkers, and let them
//                                             explain what they found, which may mean to read it once more
//
// Keys: shape, seed, events, threads, variables, locks, block_length, burst.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "checkers/registry.h"
#include "core/pipeline.h"
#include "import/open_trace.h"
#include "trace/binary_writer.h"
#include "trace/synthetic.h"
#include "trace/text_writer.h"

namespace heddle {
namespace {

double clock_seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The most memory this process has had, in bytes. Unlike getrusage it does not count what ran here before
// exec.
uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

template <typename Number>
Number parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError(fmt::format("'{}' is not a number", text));
  return number;
}

SyntheticOptions options_from(std::span<const std::string> settings) {
  SyntheticOptions options;
  for (const std::string& setting : settings) {
    const std::size_t equals = std::min(setting.find('='), setting.size() - 1);
    const std::string key = setting.substr(0, equals);
    const std::string value = setting.substr(equals + 1);
    if (key == "shape")
      options.shape = find_synthetic_shape(value);
    else if (key == "seed")
      options.seed = parse<uint64_t>(value);
    else if (key == "events")
      options.events = parse<uint64_t>(value);
    else if (key == "threads")
      options.threads = parse<uint32_t>(value);
    else if (key == "variables")
      options.variables = parse<uint32_t>(value);
    else if (key == "locks")
      options.locks = parse<uint32_t>(value);
    else if (key == "block_length")
      options.block_length = parse<uint32_t>(value);
    else if (key == "burst")
      options.burst = parse<uint32_t>(value);
    else
      throw InputError(fmt::format("unknown setting '{}'", key));
  }
  return options;
}

struct Outcome {
  uint64_t events = 0;  // of a scan: lines
  uint64_t findings = 0;
  uint64_t undecided = 0;  // checkers that gave up
};

Outcome synthesize(const SyntheticOptions& options) {
  SyntheticTrace trace(options);
  Outcome outcome;
  for (EventBatch batch = trace.next(); !batch.empty(); batch = trace.next())
    outcome.events += batch.events.size();
  return outcome;
}

Outcome write(const std::string& path, const SyntheticOptions& options) {
  SyntheticTrace trace(options);
  std::unique_ptr<TraceSink> sink;
  if (path.ends_with(".std"))
    sink = std::make_unique<TextWriter>(path);
  else
    sink = std::make_unique<BinaryWriter>(path);
  Outcome outcome;
  for (EventBatch batch = trace.next(); !batch.empty(); batch = trace.next()) {
    sink->write(batch, trace.names());
    outcome.events += batch.events.size();
  }
  sink->finish();
  return outcome;
}

Outcome scan(const std::string& path) {
  constexpr std::size_t kBlock = 256 * 1024;
  InputFile file(path);
  std::vector<char> block(kBlock);
  Outcome outcome;
  for (std::size_t got = file.read(block.data(), kBlock); got > 0; got = file.read(block.data(), kBlock))
    outcome.events +=
        static_cast<uint64_t>(std::count(block.begin(), block.begin() + static_cast<long>(got), '\n'));
  return outcome;
}

Outcome read(const std::string& path) {
  const auto source = open_trace(path);
  Outcome outcome;
  for (EventBatch batch = source->next(); !batch.empty(); batch = source->next())
    outcome.events += batch.events.size();
  return outcome;
}

Outcome check(std::string_view list, const std::string& path, std::span<const std::string> settings) {
  const auto source = open_trace(path);
  Findings findings;
  CheckerOptions options;
  for (const std::string& setting : settings) {
    if (setting == "graph")
      options.engine = Engine::kGraph;
    else if (setting == "clock")
      options.engine = Engine::kClock;
    else if (setting == "filter")
      options.race_filter = RaceFilter::kOn;
    else if (setting == "nofilter")
      options.race_filter = RaceFilter::kOff;
    else
      throw InputError(fmt::format("unknown setting '{}'", setting));
  }
  std::vector<std::unique_ptr<Checker>> checkers;
  for (const CheckerEntry* entry : select_checkers(list))
    checkers.push_back(entry->make({source->names(), findings, options}));
  Outcome outcome;
  outcome.events = run_checkers(*source, checkers).events;
  explain(
      checkers, [&] { return open_trace(path); },
      [&](std::size_t, const Names& names) { return CheckerContext{names, findings, options}; });
  outcome.findings = findings.list().size();
  for (const auto& checker : checkers) outcome.undecided += checker->coverage().undecided ? 1 : 0;
  return outcome;
}

Outcome run(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  const auto from = [&](std::size_t index) { return std::span(arguments).subspan(index); };
  if (what == "synthesize") return synthesize(options_from(from(1)));
  if (what == "write" && arguments.size() >= 2) return write(arguments[1], options_from(from(2)));
  if (what == "scan" && arguments.size() == 2) return scan(arguments[1]);
  if (what == "read" && arguments.size() == 2) return read(arguments[1]);
  if (what == "check" && arguments.size() >= 3) return check(arguments[1], arguments[2], from(3));
  throw InputError("usage: heddle_measure synthesize|write|scan|read|check …; bench/measure.cpp says more");
}

}  // namespace
}  // namespace heddle

int main(int count, char** arguments) {
  try {
    const double wall = heddle::clock_seconds(CLOCK_MONOTONIC);
    const double cpu = heddle::clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    const heddle::Outcome outcome = heddle::run({arguments + 1, arguments + count});
    const nlohmann::json line = {{"events", outcome.events},
                                 {"findings", outcome.findings},
                                 {"undecided", outcome.undecided},
                                 {"cpu_seconds", heddle::clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu},
                                 {"wall_seconds", heddle::clock_seconds(CLOCK_MONOTONIC) - wall},
                                 {"peak_bytes", heddle::peak_memory()}};
    fmt::print("{}\n", line.dump());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "heddle_measure: {}\n", error.what());
    return 2;
  }
}
