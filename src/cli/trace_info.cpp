// heddle trace info: what a trace file holds.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/trace_command.h"
#include "import/open_trace.h"
#include "trace/binary_reader.h"

namespace heddle {

namespace {

struct InfoArguments {
  std::string file;
  std::string format = "text";
};

// Names of spaces in the plural, by Space.
constexpr std::array<std::string_view, kSpaces> kSpaceNames = {
    "threads", "variables", "locks",       "barriers", "semaphores", "conditions", "blocks",
    "tasks",   "locals",    "local lists", "values",   "frames",     "loops",      "loop runs"};

// A block's kind is part of its operand, so the two kinds of begin share a spelling in the text format.
std::string operation_name(std::size_t operation) {
  if (static_cast<Operation>(operation) == Operation::kBeginDeterministic) return "begin deterministic";
  return std::string(kOperationInfo[operation].spelling);
}

struct TraceInfo {
  std::string path;
  std::optional<BinaryInfo> binary;  // what only the binary format has
  uint64_t bytes = 0;                // of the file; 0: not known
  uint64_t events = 0;
  std::array<uint64_t, kStoredOperations> operations{};   // events by operation
  std::array<uint64_t, kSpaces> names{};                  // by space
  uint64_t sites = 0;                                     // call stacks
  std::vector<std::pair<std::string, uint64_t>> threads;  // name and events, in order of appearance
  std::string note;                                       // what is missing; empty: the file is complete
};

TraceInfo read_info(const std::string& path) {
  TraceInfo info;
  info.path = input_name(path);
  const std::unique_ptr<TraceSource> source = open_trace(path);
  if (const auto* binary = dynamic_cast<const BinaryReader*>(source.get())) info.binary = binary->summary();
  if (path != "-") {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    if (!unknown) info.bytes = size;
  }
  std::vector<uint64_t> per_thread;
  {
    Progress progress("reading " + printable(info.path));
    for (EventBatch batch = source->next(); !batch.empty(); batch = source->next()) {
      per_thread.resize(source->names().table(Space::kThread).size());
      for (const Event& event : batch.events) {
        ++info.operations[static_cast<std::size_t>(event.operation)];
        ++per_thread[event.thread];
      }
      info.events += batch.events.size();
      progress.update(info.events, *source);
    }
  }
  const Names& names = source->names();
  for (std::size_t space = 0; space < kSpaces; ++space)
    info.names[space] = names.table(static_cast<Space>(space)).size();
  info.sites = names.sites().size();
  for (ThreadId thread = 0; thread < per_thread.size(); ++thread)
    info.threads.emplace_back(names.thread(thread), per_thread[thread]);
  info.note = source->note();
  return info;
}

std::string text_info(const TraceInfo& info) {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{:<14}{}\n", name, value);
  };
  line("file", printable(info.path));
  line("format", info.binary ? fmt::format("binary, version {}", info.binary->version) : "text");
  line("state", info.note.empty() ? "complete" : info.note);
  line("events", fmt::format("{}", info.events));
  if (info.bytes > 0) {
    line("bytes", fmt::format("{}", info.bytes));
    if (info.events > 0)
      line("bytes/event",
           fmt::format("{:.2f}", static_cast<double>(info.bytes) / static_cast<double>(info.events)));
  }
  text += "\nnames\n";
  for (std::size_t space = 0; space < kSpaces; ++space)
    if (info.names[space] > 0)
      line(fmt::format("  {}", kSpaceNames[space]), fmt::format("{}", info.names[space]));
  if (info.sites > 0) line("  call stacks", fmt::format("{}", info.sites));
  text += "\nevents by operation\n";
  for (std::size_t i = 0; i < kStoredOperations; ++i)
    if (info.operations[i] > 0)
      text += fmt::format("  {:<20} {:>12}\n", operation_name(i), info.operations[i]);
  text += "\nevents by thread\n";
  for (const auto& [name, events] : info.threads)
    text += fmt::format("  {:<20} {:>12}\n", printable(name), events);
  return text;
}

std::string json_info(const TraceInfo& info) {
  nlohmann::ordered_json json;
  json["file"] = printable(info.path);
  json["format"] = info.binary ? "binary" : "text";
  if (info.binary) json["version"] = info.binary->version;
  json["complete"] = info.note.empty();
  if (!info.note.empty()) json["note"] = info.note;
  json["events"] = info.events;
  if (info.bytes > 0) json["bytes"] = info.bytes;
  for (std::size_t space = 0; space < kSpaces; ++space)
    json["names"][std::string(kSpaceNames[space])] = info.names[space];
  json["names"]["call stacks"] = info.sites;
  json["operations"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kStoredOperations; ++i)
    if (info.operations[i] > 0) json["operations"][operation_name(i)] = info.operations[i];
  json["threads"] = nlohmann::ordered_json::array();
  for (const auto& [name, events] : info.threads)
    json["threads"].push_back({{"name", printable(name)}, {"events", events}});
  return json.dump(2) + "\n";
}

int show_info(const InfoArguments& arguments) {
  const TraceInfo info = read_info(arguments.file);
  OutputFile out("-");
  out.write(arguments.format == "json" ? json_info(info) : text_info(info));
  out.commit();
  return kExitClean;
}

}  // namespace

void add_trace_info_command(CLI::App& trace, Commands& commands) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App* app = trace.add_subcommand("info", "Say what a trace holds: format, threads, events, names.");
  add_text(*app, "FILE", arguments->file, kFileType, "A trace of any format; '-' is standard input.")
      ->required();
  add_choice(*app, "--format,-f", arguments->format, "text|json",
             "For people (the default) or for programs.");
  app->footer(R"(Examples:
  heddle trace info run.heddle
  heddle trace info run.heddle --format json
)");
  commands.push_back({app, [arguments] { return show_info(*arguments); }});
}

}  // namespace heddle
