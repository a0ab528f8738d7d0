// heddle run: runs a program built with heddle-clang++, checks it while it runs, and reports.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "checkers/registry.h"
#include "cli/child_process.h"
#include "cli/command_line.h"
#include "cli/default_blocks.h"
#include "cli/focus_notes.h"
#include "cli/heddle.h"
#include "cli/live_check.h"
#include "cli/options.h"
#include "cli/program_to_run.h"
#include "cli/question.h"
#include "cli/report_options.h"
#include "cli/run_command.h"
#include "cli/run_spec.h"
#include "cli/standstill.h"
#include "report/finding_text.h"
#include "symbols/executable.h"

namespace heddle {

namespace {

LiveCheck::Settings live_settings(const ReportOptions& options, Suppressions& suppressions, RunSpec& spec,
                                  bool tells) {
  LiveCheck::Settings settings;
  settings.checkers = select_checkers(options.checkers);
  settings.options = checker_options(options);
  settings.kept_per_checker = kept_per_checker(options);
  settings.ignores_block = [&spec](std::string_view block) { return spec.is_ignored(block); };
  settings.blocks_of = [&spec](pid_t pid) { return spec.blocks_of(pid); };
  if (tells)
    settings.on_finding = [&, left = options.limit](const Finding& finding) mutable {
      if (suppressions.find(finding) != nullptr || left == 0) return;
      --left;
      fmt::print(stderr, "{}\n", finding_text(finding, false, style_for(options, STDERR_FILENO)));
    };
  settings.on_question = [](const std::string& answer) { fmt::print(stderr, "{}", answer); };
  return settings;
}

// Findings are shown while the program runs when the report is for people at the terminal.
bool shows_at_once(const ReportOptions& options) {
  return options.format == "text" && options.output == kToStandardError && !options.gen_suppressions;
}

}  // namespace

namespace {

void tell_standstill(const std::string& place, uint64_t seed) {
  fmt::print(
      stderr,
      "heddle: the sequential version stands still{}{}, and was ended: what it waits for there, nobody "
      "can do, since its iterations run one after the other\n"
      "heddle: a barrier that iterations meet at: end the heddle::parallel_for there, and begin "
      "another one; iterations that wait for what others do (a condition variable, a semaphore, a "
      "future, a latch): let them find it done, or put it in one iteration\n"
      "heddle: (seed {}; HEDDLE_SEQUENTIAL={} in a debugger stops at the same place)\n",
      place.empty() ? "" : " at ", place, seed, seed);
}

// heddle/parallel.h reads the seed; with one thread there is nothing to check.
int run_sequentially(const RunArguments& arguments) {
  ::setenv("HEDDLE_SEQUENTIAL", fmt::format("{}", arguments.seed).c_str(), 1);
  ::setenv("HEDDLE_OFF", "1", 1);
  Standstill standstill;
  bool stands_still = false;
  const CommandEnd end = run_command_served(
      arguments.command, "", [](Connection&, const std::string&) {},
      [&](pid_t program) {
        if (!standstill.has_come(program)) return;
        stands_still = true;
        tell_standstill(Standstill::place(program), arguments.seed);
        ::kill(program, SIGKILL);
      });
  if (stands_still) return kExitUsage;
  if (!end.signal.empty()) fmt::print(stderr, "heddle: {}\n", end.signal);
  fmt::print(stderr,
             "heddle: this was the sequential version, one thread, with seed {}; nothing was checked\n",
             arguments.seed);
  return end.exit_code;
}

// The others judge by races and by what orders threads, and all of that is told (docs/design/types.md).
bool needs_every_access(const std::string& checkers) {
  const std::vector<const CheckerEntry*> selected = select_checkers(checkers);
  return std::any_of(selected.begin(), selected.end(),
                     [](const CheckerEntry* checker) { return checker->needs_whole_run; });
}

}  // namespace

int run_program(const RunArguments& arguments) {
  if (arguments.sequential) return run_sequentially(arguments);
  const ReportOptions& options = arguments.report;
  RunSpec spec(arguments.spec);
  const ProgramToRun checked(arguments.command.front());
  for (const std::string& output : {options.output, options.html, options.dot})
    checked.refuse_as_output(output);
  ReportWriter writer(options, {});
  LiveCheck live(live_settings(options, writer.suppressions(), spec, shows_at_once(options)));
  refuse_mixed_focus(checked.file());
  const CommandEnd end = run_command_served(
      arguments.command, checked.preload(), [&](Connection& connection, const std::string& program) {
        const uint32_t findings = live.check(connection, program);
        connection.answer(findings, static_cast<int>(options.exit_code));
      });
  RunReport report = live.finish();
  report.command = own_command_line();
  if (!checked.warning().empty()) report.notices.push_back(checked.warning());
  for (std::string& notice : spec.notices(checked.file())) report.notices.push_back(std::move(notice));
  add_notice_of_defaults(report, checked.file());
  if (is_focused(checked.file()) && needs_every_access(options.checkers))
    report.notices.emplace_back(
        "built with --heddle-focus, which leaves out accesses that cannot race: of the checkers asked for, "
        "some judge "
        "accesses by themselves, and need a build without it");
  if (!end.any_checked)
    report.notices.emplace_back("nothing was checked: no program told of a second thread");
  if (!end.signal.empty()) {
    report.notices.push_back(end.signal);
    report.notices.insert(report.notices.end(), live.standstills().begin(), live.standstills().end());
  }
  const int result = writer.write(std::move(report), shows_at_once(options));
  return result == kExitClean ? end.exit_code : result;
}

namespace {

// Beside `file`, of this process alone.
std::string own_file(const std::string& file, pid_t pid) {
  std::error_code none;
  std::string name = fmt::format("{}.{}", file, pid);
  for (int again = 2; std::filesystem::exists(name, none); ++again)
    name = fmt::format("{}.{}.{}", file, pid, again);
  return name;
}

int monitor(const MonitorArguments& arguments) {
  ReportOptions options = arguments.report;
  RunSpec spec(arguments.spec);
  if (arguments.only_settings) {
    ReportWriter opened(options, {});
    live_settings(options, opened.suppressions(), spec, false);
    return kExitClean;
  }
  constexpr int kSocket = 3;  // given by the runtime (runtime/connection.cpp)
  outlive_the_program();
  listen_for_questions();
  std::optional<Connection> connection = Connection::receive(kSocket);
  if (!connection) throw InputError("'heddle monitor' is started by checked programs, not by people");
  const bool has_own_file =
      arguments.of_descendant && options.output != "-" && options.output != kToStandardError;
  if (has_own_file) options.output = own_file(options.output, connection->pid());
  if (arguments.of_descendant && !options.dot.empty() && options.dot != "-")
    options.dot = own_file(options.dot, connection->pid());
  if (arguments.of_descendant && !options.html.empty() && options.html != "-")
    options.html = own_file(options.html, connection->pid());
  ReportWriter writer(options, {});
  LiveCheck live(live_settings(options, writer.suppressions(), spec, shows_at_once(options)));
  std::error_code none;
  const std::string file =
      std::filesystem::read_symlink(fmt::format("/proc/{}/exe", connection->pid()), none);
  live.check(*connection, program_of(connection->pid(), "the program"));
  RunReport report = live.finish();
  add_notice_of_defaults(report, file);
  // Programs that are started without 'heddle run' and have nothing wrong stay as quiet as they were.
  const bool is_quiet = report.findings.empty() && (options.output == kToStandardError || has_own_file);
  const int result = is_quiet ? kExitClean : writer.write(std::move(report), shows_at_once(options));
  if (has_own_file && !is_quiet)
    fmt::print(stderr, "heddle: the report on process {} is in {}\n", connection->pid(), options.output);
  connection->answer(result == kExitClean ? 0 : 1, result);
  return result;
}

constexpr const char* kExamples = R"(Signals:
  SIGUSR2, to heddle or to the program, prints what each of its threads waits for and holds, and the
  findings so far. A program that handles the signal itself keeps it. What the terminal sends (Ctrl-C)
  ends the program; the report comes then.

Examples:
  heddle-clang++ -g -O1 test.cpp -o my_test         build it
  heddle run -- ./my_test --its-options             run it, check it, report
  heddle run --format json -o run.json -- ./my_test
  heddle run --html run.html -- ./my_test           a page with pictures, for the browser
  heddle run --sequential --seed 7 -- ./my_test     its sequential version, for the debugger
  HEDDLE_OPTIONS=checkers=race ./my_test            a program built with heddle-clang++ needs no 'heddle run'
  HEDDLE_OPTIONS=output=report.txt ./my_test        children with findings report to report.txt.PID

)";
}  // namespace

void add_spec_option(CLI::App& app, std::string& spec) {
  add_text(app, "--spec", spec, kFileType,
           "Leave out the blocks that this spec file ignores; of objects compiled with -fsanitize=thread, "
           "take the functions that it names for blocks. 'heddle spec --help' tells what it holds.");
}

std::string run_exit_codes_help() {
  return R"(
Exit codes:
  66   findings (--exit-code sets another)
  2    the command line is at fault, or the program cannot be compiled or run
  125  Heddle itself failed
  else the program's own; 128 and the signal's number when a signal ended it
)";
}

void add_run_command(CLI::App& root, Commands& commands) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->report.output = kToStandardError;
  CLI::App* app = root.add_subcommand("run", "Run a program, check it while it runs, and report.");
  add_texts(*app, "COMMAND", arguments->command, "COMMAND", "The program and its arguments, after '--'.")
      ->required();
  add_spec_option(*app, arguments->spec);
  app->add_flag(
      "--sequential", arguments->sequential,
      "Run the sequential version of the parallel loops of heddle/parallel.h: one iteration after the "
      "other in a random order, HEDDLE_MAYBE true or false at random. Checks nothing.");
  add_number(*app, "--seed", arguments->seed, 0, std::numeric_limits<uint64_t>::max(),
             "With --sequential: which of its runs. Default: 1.")
      ->needs("--sequential");
  add_report_options(*app, arguments->report);
  app->footer(checkers_help() + kExamples + suppressions_and_settings_help("run") + run_exit_codes_help());
  commands.push_back({app, [arguments] { return run_program(*arguments); }});

  auto direct = std::make_shared<MonitorArguments>();
  direct->report.output = kToStandardError;
  CLI::App* listens =
      root.add_subcommand("monitor", "Started by checked programs that 'heddle run' did not start.");
  listens->group("");  // not for people
  listens->add_flag("--only-settings", direct->only_settings)->configurable(false);
  listens->add_flag("--of-descendant", direct->of_descendant)->configurable(false);
  add_spec_option(*listens, direct->spec);
  add_report_options(*listens, direct->report);
  commands.push_back({listens, [direct] { return monitor(*direct); }});
}

}  // namespace heddle
