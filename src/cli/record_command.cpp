// heddle record: runs a program built with heddle-clang++ and writes what it does as a trace.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/text.h"
#include "cli/child_process.h"
#include "cli/focus_notes.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "cli/program_to_run.h"
#include "cli/question.h"
#include "cli/run_command.h"
#include "cli/run_spec.h"
#include "live/channel_reader.h"
#include "live/live_trace.h"
#include "trace/binary_writer.h"

namespace heddle {

namespace {

struct RecordArguments {
  std::vector<std::string> command;
  std::string output = "run.heddle";
  std::string mode = "thin";
  std::string spec;
};

// The files of a recording: one for each process, "run.heddle", "run.2.heddle", …
class Recordings {
 public:
  // Throws InputError when the first cannot be written.
  explicit Recordings(const std::string& path) : path_(path) {
    if (path == "-") throw InputError("a recording goes to a file, not to standard output");
    first_ = std::make_unique<BinaryWriter>(path);
  }

  struct File {
    std::string path;
    std::unique_ptr<BinaryWriter> writer;
  };
  // For the next process.
  File next() {
    const std::lock_guard lock(mutex_);
    const std::string path = numbered_path(path_, ++processes_);
    if (processes_ == 1) return {path, std::move(first_)};
    return {path, std::make_unique<BinaryWriter>(path)};
  }
  // A program that never had a second thread leaves a trace without events.
  void finish_unused() {
    if (first_) first_->finish();
  }

  void finished(const std::string& path, uint64_t events) {
    const std::lock_guard lock(mutex_);
    fmt::print(stderr, "heddle: recorded {} in {}\n", counted(events, "event"), printable(path));
  }
  void say(const std::string& notice) {
    const std::lock_guard lock(mutex_);
    fmt::print(stderr, "heddle: {}\n", notice);
  }

 private:
  std::string path_;
  std::mutex mutex_;  // for all below, and for what is said
  std::unique_ptr<BinaryWriter> first_;
  uint32_t processes_ = 0;
};

void record_program(Connection& connection, const std::string& program, bool is_full, RunSpec& spec,
                    Recordings& recordings) {
  ChannelReader reader(connection);
  reader.channel().told_per_stretch = runtime::Channel::kTellAll;
  reader.channel().is_full = is_full ? 1 : 0;
  reader.name_blocks(spec.blocks_of(connection.pid()));
  const Recordings::File file = recordings.next();
  connection.answer(0, 0);

  LiveTrace trace(reader, program, LiveTrace::Divided::kRecorded,
                  [&spec](std::string_view block) { return spec.is_ignored(block); });
  Questions questions(reader.channel());
  const auto answer = [&] {
    if (questions.any()) fmt::print(stderr, "{}", threads_text(program, trace));
  };
  trace.while_waiting(answer);
  uint64_t events = 0;
  for (EventBatch batch = trace.next(); !batch.empty(); batch = trace.next()) {
    file.writer->write(batch, trace.names());
    events += batch.events.size();
    answer();
  }
  file.writer->finish();
  recordings.finished(file.path, events + trace.events_in_series());
  for (const std::string& notice : trace.flow_notices()) recordings.say(notice);
}

int record(const RecordArguments& arguments) {
  RunSpec spec(arguments.spec);
  const ProgramToRun recorded(arguments.command.front());
  recorded.refuse_as_output(arguments.output);
  Recordings recordings(arguments.output);
  refuse_mixed_focus(recorded.file());
  const CommandEnd end = run_command_served(
      arguments.command, recorded.preload(), [&](Connection& connection, const std::string& program) {
        record_program(connection, program, arguments.mode == "full", spec, recordings);
      });
  recordings.finish_unused();
  if (!recorded.warning().empty()) fmt::print(stderr, "heddle: {}\n", recorded.warning());
  if (is_focused(recorded.file()))
    fmt::print(stderr,
               "heddle: built with --heddle-focus: accesses that cannot race are not in the trace, so "
               "reduction, blocks, "
               "lockset, tso and robustness say too little of it\n");
  if (!end.any_checked)
    fmt::print(stderr, "heddle: {} has no events: no program told of a second thread\n",
               printable(arguments.output));
  if (!end.signal.empty()) fmt::print(stderr, "heddle: {}\n", end.signal);
  return end.exit_code;
}

constexpr const char* kHelp = R"(Modes:
  thin  of each thread, the first access of each kind to a piece of memory between two of its
        synchronizations or blocks: no checker can tell the rest from it
  full  every access that the compiler plug-in checks
  Of a program built with heddle-clang++ --heddle-dataflow, every access and what it depends on is
  recorded from its first parallel loop on (heddle/parallel.h), in either mode.

Files:
  Each process that is checked has a file of its own, in the order in which they get a second thread:
  run.heddle, run.2.heddle, … A file is complete when its process has ended, however it ended. Until
  then it is named run.heddle.PID.partial, with the number of the heddle process; if that is killed,
  too, what was written can be read there.

Examples:
  heddle-clang++ -g -O1 test.cpp -o my_test          build it
  heddle record -o run.heddle -- ./my_test           run it
  heddle check run.heddle --checkers all             check what it did
  heddle trace convert run.heddle --output run.std   for people and for other tools

Exit codes:
  2    the command line is at fault, or the program cannot be run
  125  Heddle itself failed
  else the program's own; 128 and the signal's number when a signal ended it
)";

}  // namespace

void add_record_command(CLI::App& root, Commands& commands) {
  auto arguments = std::make_shared<RecordArguments>();
  CLI::App* app = root.add_subcommand("record", "Run a program and write what it does as a trace.");
  add_texts(*app, "COMMAND", arguments->command, "COMMAND", "The program and its arguments, after '--'.")
      ->required();
  add_text(*app, "--output,-o", arguments->output, kFileType,
           "The file to write, in Heddle's own format. Default: run.heddle.");
  add_choice(*app, "--mode", arguments->mode, "thin|full", "How much to record. Default: thin.");
  add_spec_option(*app, arguments->spec);
  app->footer(kHelp);
  commands.push_back({app, [arguments] { return record(*arguments); }});
}

}  // namespace heddle
