// heddle types and heddle focus: who owns the fields of a program, what is proven of it, what is left to
// check.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/child_process.h"
#include "cli/exit_code.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "cli/program_to_run.h"
#include "live/channel_reader.h"
#include "live/discovery.h"
#include "symbols/executable.h"
#include "types/annotations.h"
#include "types/check.h"
#include "types/discovery_log.h"
#include "types/focus.h"
#include "types/inference.h"
#include "types/summary_text.h"

namespace heddle {

namespace {

struct DiscoverArguments {
  std::vector<std::string> command;
  std::string output = "run.types-log";
  bool appends = false;
  uint64_t objects = 64;
};

struct TypesArguments {
  std::vector<std::string> programs;
  std::vector<std::string> logs;
  std::string types;
  std::string output = "-";
  std::string mode = "combined";
  bool annotates = false;
  bool lists_everything = false;
};

void write_text(const std::string& path, const std::string& text) {
  OutputFile out(path);
  out.write(text);
  out.commit();
}

// Most programs need few accesses of each stretch to show which locks they hold.
constexpr uint32_t kToldPerStretch = 8;

int run_discovery(const DiscoverArguments& arguments) {
  types::DiscoveryLog log;
  std::error_code none;
  if (arguments.appends && std::filesystem::exists(arguments.output, none))
    log = types::DiscoveryLog::parse(read_whole_file(arguments.output), arguments.output);
  std::mutex mutex;
  const ProgramToRun program(arguments.command.front());
  const CommandEnd end = run_command_served(
      arguments.command, program.preload(), [&](Connection& connection, const std::string&) {
        ChannelReader reader(connection);
        reader.channel().told_per_stretch = kToldPerStretch;
        connection.answer(0, 0);
        const types::DiscoveryLog seen = discover(reader, arguments.objects);
        connection.answer(0, 0);
        const std::lock_guard lock(mutex);
        log.add(seen);
      });
  if (!program.warning().empty()) fmt::print(stderr, "heddle: {}\n", program.warning());
  if (!end.any_checked) fmt::print(stderr, "heddle: nothing was seen: no program told of a second thread\n");
  if (!end.signal.empty()) fmt::print(stderr, "heddle: {}\n", end.signal);
  write_text(arguments.output, log.text());
  if (arguments.output != "-")
    fmt::print(stderr, "heddle: saw {} in {}; 'heddle types infer' tells what they are owned by: {}\n",
               counted(log.fields.size(), "field"), counted(log.runs, "run"), printable(arguments.output));
  return end.exit_code;
}

types::Program read_program(const std::vector<std::string>& files) {
  types::Program program;
  for (const std::string& file : files) {
    InputFile readable(file);
    if (program_kind(file) == ProgramKind::kNone && section_bytes(file, "heddle_summaries").empty())
      throw InputError(fmt::format("{}: no program or object file: it is not an ELF file", file));
    const std::string texts = section_bytes(file, "heddle_summaries");
    if (texts.empty())
      throw InputError(fmt::format(
          "{}: has no summaries; build it with 'heddle-clang++ --heddle-summaries', every file of it", file));
    types::read_summaries(texts, file, program);
    if (has_parts_for_thread_sanitizer(file)) program.foreign_parts.push_back(file);
  }
  return program;
}

types::Types read_types(const TypesArguments& arguments, const types::Program& program) {
  if (!arguments.types.empty())
    return types::Types::parse(read_whole_file(arguments.types), input_name(arguments.types));
  types::DiscoveryLog log;
  for (const std::string& path : arguments.logs)
    log.add(types::DiscoveryLog::parse(read_whole_file(path), input_name(path)));
  return types::infer_types(program, log);
}

int infer(const TypesArguments& arguments) {
  const types::Program program = read_program(arguments.programs);
  const types::Types types = read_types(arguments, program);
  write_text(arguments.output,
             arguments.annotates ? types::annotation_patch(program, types, types::check_types(program, types))
                                 : types.text());
  return kExitClean;
}

int check(const TypesArguments& arguments) {
  const types::Program program = read_program(arguments.programs);
  const types::CheckResult result = types::check_types(program, read_types(arguments, program));
  write_text(arguments.output, types::check_text(result, arguments.lists_everything));
  return kExitClean;
}

int focus(const TypesArguments& arguments) {
  const types::Program program = read_program(arguments.programs);
  const types::CheckResult result = types::check_types(program, read_types(arguments, program));
  const auto mode = arguments.mode == "field"    ? types::FocusMode::kField
                    : arguments.mode == "method" ? types::FocusMode::kMethod
                                                 : types::FocusMode::kCombined;
  const types::Focus made = types::make_focus(program, result, mode);
  write_text(arguments.output, made.text());
  if (arguments.output == "-") return kExitClean;
  // The same methods as `heddle types check` counts; by field alone none of them matters.
  const auto methods = [&] {
    std::size_t all = 0;
    std::size_t typed = 0;
    for (const auto& [symbol, method] : result.methods) {
      all += !method.is_library;
      typed += !method.is_library && method.is_typed;
    }
    return fmt::format(", {} of {} are typed", typed, counted(all, "method"));
  };
  fmt::print(stderr, "heddle: {} of {} need no check{}; build with 'heddle-clang++ --heddle-focus={}'\n",
             made.fields.size(), counted(result.fields.size(), "field"),
             mode == types::FocusMode::kField ? "" : methods(), printable(arguments.output));
  return kExitClean;
}

void add_program(CLI::App& app, TypesArguments& arguments) {
  add_texts(app, "PROGRAM", arguments.programs, kFileType,
            "A program, shared library or object file built with 'heddle-clang++ --heddle-summaries'.")
      ->required();
  add_texts(
      app, "--log", arguments.logs, kFileType,
      "What 'heddle types discover' has written. Several are added up; without any, the code alone decides.");
}

void add_types(CLI::App& app, TypesArguments& arguments) {
  add_text(app, "--types", arguments.types, kFileType,
           "Take owners from this file, which 'heddle types infer' has written, instead of inferring them.");
}

void add_output(CLI::App& app, std::string& output, const std::string& what) {
  add_text(app, "--output,-o", output, kFileType, what + " A file appears only once it is complete.");
}

constexpr const char* kFooter = R"(Examples:
  heddle-clang++ --heddle-summaries -O1 bank.cpp -o bank   build it: all files of the program
  heddle types discover -o bank.log -- ./bank              run it, and see who uses what with which locks
  heddle types infer ./bank --log bank.log -o bank.types   who owns each field
  heddle types check ./bank --types bank.types             what that proves, and what it does not
  heddle types infer ./bank --log bank.log --annotate      the owners as attributes for clang -Wthread-safety
  heddle focus ./bank --types bank.types -o bank.focus     what is left to check when it runs
  heddle-clang++ --heddle-focus=bank.focus -O1 bank.cpp -o bank-focused && heddle run -- ./bank-focused
)";

}  // namespace

void add_types_commands(CLI::App& root, Commands& commands) {
  CLI::App* app = root.add_subcommand("types", "Find out which locks guard which fields, and prove it.");
  app->footer(kFooter);

  auto seeing = std::make_shared<DiscoverArguments>();
  CLI::App* discovers =
      app->add_subcommand("discover", "Run a program and log who uses its fields with which locks.");
  add_texts(*discovers, "COMMAND", seeing->command, "COMMAND", "The program and its arguments, after '--'.")
      ->required();
  add_output(*discovers, seeing->output, "The log to write. Default: run.types-log.");
  discovers->add_flag("--append", seeing->appends, "Add to the log if it is there.");
  add_number(*discovers, "--objects", seeing->objects, 1, 1'000'000'000,
             "How many objects to look at for each field. Default: 64.");
  discovers->footer(kFooter);
  commands.push_back({discovers, [seeing] { return run_discovery(*seeing); }});

  auto inferring = std::make_shared<TypesArguments>();
  CLI::App* infers = app->add_subcommand("infer", "Print who owns each field and what methods require.");
  add_program(*infers, *inferring);
  infers->add_flag("--annotate", inferring->annotates,
                   "Print a patch that adds Clang's thread-safety attributes to the source instead.");
  add_output(*infers, inferring->output, "Where to write it. Default: standard output.");
  infers->footer(kFooter);
  commands.push_back({infers, [inferring] { return infer(*inferring); }});

  auto checking = std::make_shared<TypesArguments>();
  CLI::App* checks =
      app->add_subcommand("check", "Print what the owners prove of the whole program, and what not.");
  add_program(*checks, *checking);
  add_types(*checks, *checking);
  checks->add_flag("--all", checking->lists_everything, "List what is proven, too.");
  add_output(*checks, checking->output, "Where to write it. Default: standard output.");
  checks->footer(kFooter);
  commands.push_back({checks, [checking] { return check(*checking); }});

  auto focusing = std::make_shared<TypesArguments>();
  focusing->output = "heddle.focus";
  CLI::App* focuses = root.add_subcommand("focus", "Write what of a program is left to check when it runs.");
  add_program(*focuses, *focusing);
  add_types(*focuses, *focusing);
  add_choice(
      *focuses, "--mode", focusing->mode, "field|method|combined",
      "What is left out: accesses to proven fields, accesses in typed methods, or both. Default: combined.");
  add_output(*focuses, focusing->output, "The focus file to write. Default: heddle.focus.");
  focuses->footer(kFooter);
  commands.push_back({focuses, [focusing] { return focus(*focusing); }});
}

}  // namespace heddle
