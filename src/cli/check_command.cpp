// heddle check: reads traces, runs checkers, reports.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "checkers/registry.h"
#include "cli/check_traces.h"
#include "cli/exit_code.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "cli/settings.h"
#include "report/dot_report.h"
#include "report/json_report.h"
#include "report/sarif_report.h"
#include "report/suppressions.h"
#include "report/text_report.h"

namespace heddle {

namespace {

// More different findings than these a checker only counts, so that a trace full of defects does not fill the
// memory.
constexpr uint64_t kKeptPerChecker = 10'000;

struct CheckArguments {
  std::vector<std::string> files;
  std::string checkers;  // comma-separated; empty: the default ones
  std::string format = "text";
  std::string output = "-";
  std::string dot;  // where to draw the cycles; empty: nowhere
  std::string color = "auto";
  std::vector<std::string> suppressions;  // files
  bool gen_suppressions = false;          // print suppressions for the findings instead of the report
  uint64_t exit_code = kExitFindings;     // with findings
  uint64_t limit = 100;                   // findings shown
  std::string granularity = "field";
  uint64_t budget = CheckerOptions{}.budget;
  std::string engine = "auto";
  std::string race_filter = "auto";
  std::string config;  // read by apply_settings()
};

Suppressions load_suppressions(const std::vector<std::string>& paths) {
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  Suppressions suppressions(all_rules(), std::chrono::year_month_day(today));
  for (const std::string& path : paths) suppressions.load(path);
  return suppressions;
}

// The root of the git work tree around the current directory, or else that directory: where source names
// start.
std::string source_root() {
  std::error_code none;
  const std::filesystem::path here = std::filesystem::current_path(none);  // empty where it was deleted
  for (std::filesystem::path place = here; place.has_relative_path(); place = place.parent_path())
    if (std::filesystem::exists(place / ".git", none)) return place.string();
  return here.string();
}

void limit_findings(RunReport& report, std::size_t limit) {
  if (report.findings.size() <= limit) return;
  report.left_out = report.findings.size() - limit;
  report.findings.resize(limit);
}

ColourChoice colour_choice(const std::string& color) {
  if (color == "always") return ColourChoice::kAlways;
  return color == "never" ? ColourChoice::kNever : ColourChoice::kAuto;
}

std::string render(const RunReport& report, const CheckArguments& arguments) {
  if (arguments.gen_suppressions) return generate_suppressions(report.findings);
  if (arguments.format == "json") return json_report(report);
  if (arguments.format == "sarif") return sarif_report(report, {source_root()});
  const int descriptor = arguments.output == "-" ? STDOUT_FILENO : -1;
  return text_report(report, text_style(colour_choice(arguments.color), descriptor));
}

// Nothing that is read may be written over: a trace is not easily made again.
void refuse_to_replace_inputs(const std::string& output, const CheckArguments& arguments) {
  const auto refuse_to_replace = [&](const std::string& input, std::string_view what) {
    if (is_same_file(output, input))
      throw InputError(fmt::format("{}: cannot write: it is {}", output, what));
  };
  for (const std::string& file : arguments.files) refuse_to_replace(file, "a trace to check");
  for (const std::string& file : arguments.suppressions) refuse_to_replace(file, "a file of suppressions");
  refuse_to_replace(arguments.config.empty() ? kConfigFile : arguments.config, "the config file");
}

int check(const CheckArguments& arguments) {
  const std::vector<const CheckerEntry*> checkers = select_checkers(arguments.checkers);
  if (std::count(arguments.files.begin(), arguments.files.end(), "-") > 1)
    throw InputError("standard input ('-') can be read only once");
  Suppressions suppressions = load_suppressions(arguments.suppressions);
  refuse_to_replace_inputs(arguments.output, arguments);
  refuse_to_replace_inputs(arguments.dot, arguments);
  if (!arguments.dot.empty() &&
      (arguments.dot == arguments.output || is_same_file(arguments.dot, arguments.output)))
    throw InputError(fmt::format("--output and --dot cannot both write to {}",
                                 arguments.dot == "-" ? "standard output" : arguments.dot));
  OutputFile output(arguments.output);
  std::optional<OutputFile> picture;
  if (!arguments.dot.empty()) picture.emplace(arguments.dot);

  CheckerOptions options;
  options.granularity = arguments.granularity == "object" ? Granularity::kObject : Granularity::kField;
  options.budget = arguments.budget;
  options.engine = arguments.engine == "graph"   ? Engine::kGraph
                   : arguments.engine == "clock" ? Engine::kClock
                                                 : Engine::kAuto;
  options.race_filter = arguments.race_filter == "on"    ? RaceFilter::kOn
                        : arguments.race_filter == "off" ? RaceFilter::kOff
                                                         : RaceFilter::kAuto;
  // What is to be suppressed has to be known, all of it.
  const uint64_t limit = arguments.gen_suppressions ? std::numeric_limits<uint64_t>::max() : arguments.limit;
  RunReport report = check_traces(arguments.files, checkers, options, std::max(limit, kKeptPerChecker));
  apply_suppressions(suppressions, report);
  limit_findings(report, limit);

  output.write(render(report, arguments));
  if (picture) picture->write(dot_report(report));
  output.commit();
  if (picture) picture->commit();
  // What was not kept was not compared to the suppressions either.
  const bool nothing = report.findings.empty() && report.left_out_occurrences == 0;
  return nothing ? kExitClean : static_cast<int>(arguments.exit_code);
}

std::string footer() {
  std::string text = "Checkers (those marked * run by default):\n";
  for (const CheckerEntry& checker : all_checkers())
    text += fmt::format("  {} {:<12} {}\n", checker.by_default ? '*' : ' ', checker.name, checker.brief);
  text +=
      R"(  A finding is marked observed (it happened in this run), predicted (it happens in another order of the
  same operations) or potential. Observed and predicted ones are real; a potential one may be a false alarm.

Examples:
  heddle check run.std                              the default checkers, a report for people
  heddle check run.std --checkers all               every checker
  heddle check a.std b.heddle --checkers race,deadlock
  heddle check run.std --format sarif --output run.sarif
  heddle check run.std --dot run.dot; dot -Tsvg run.dot -o run.svg
  xz -dc run.std.xz | heddle check -                a trace from standard input
  heddle check run.std --gen-suppressions >> known.toml
  heddle check run.std --suppressions known.toml    what you have looked at stays out of the report

Suppressions:
  A TOML file with an entry for each finding you have looked at and accept:
    [[suppress]]
    rule = "HD1001"
    frames = ["bank.cpp:* in Account::withdraw"]
    reason = "the counter is only a statistic"
    expires = 2027-01-31
  All but rule and reason may be left out. Entries that are unused or expired are named in the report.

Settings:
  Every long option can also be set, without its dashes, in the environment variable HEDDLE_OPTIONS
    HEDDLE_OPTIONS=checkers=all:limit=10 heddle check run.std
  and in a config file, by default heddle.toml in the current directory:
    [check]
    checkers = "race,deadlock"
    suppressions = ["known.toml"]
  The command line wins over HEDDLE_OPTIONS, and that over the config file.

Exit codes:
  0    nothing found, or all of it suppressed
  66   findings (--exit-code sets another)
  2    the command line or an input is at fault; nothing was written
  125  Heddle itself failed
)";
  return text;
}

}  // namespace

void add_check_command(CLI::App& root, Commands& commands) {
  auto arguments = std::make_shared<CheckArguments>();
  CheckArguments& a = *arguments;
  CLI::App* app = root.add_subcommand("check", "Check traces of a program and report what is wrong with it.");
  add_texts(*app, "FILE", a.files, kFileType,
            "A trace, in the text format or in Heddle's own; '-' is standard input. Each file is checked on "
            "its own.")
      ->required();
  add_text(*app, "--checkers,-c", a.checkers, kCheckersType,
           "What to check, separated by commas, or 'all'. See the list below.");
  add_choice(*app, "--format,-f", a.format, "text|json|sarif",
             "How to report: for people (the default), for programs, for code scanning services.");
  add_text(*app, "--output,-o", a.output, kFileType,
           "Where to write the report. A file appears only once it is complete. Default: standard output.");
  add_text(
      *app, "--dot", a.dot, kFileType,
      "Also draw the findings that put threads in a circle (atomicity violations, interference, lock-order "
      "cycles), for Graphviz; '-' is standard output.")
      ->check([](const std::string& file) { return file.empty() ? "the name of the file is empty" : ""; });
  add_choice(*app, "--color", a.color, "auto|always|never",
             "Colour in the text report; auto: on a terminal.");
  add_texts(*app, "--suppressions,-s", a.suppressions, kFileType,
            "Findings to leave out. Can be given several times. See below.");
  app->add_flag(
      "--gen-suppressions", a.gen_suppressions,
      "Instead of the report, print suppressions for all findings, whatever the limit, ready for a file.");
  add_number(*app, "--exit-code", a.exit_code, 0, 255,
             fmt::format("Exit code when there are findings. Default: {}.", a.exit_code));
  add_number(*app, "--limit", a.limit, 1, 1'000'000,
             fmt::format("How many findings to show at most; the rest is counted. Default: {}.", a.limit));
  add_choice(*app, "--granularity", a.granularity, "field|object",
             "lockset: whether each field has its own locks or they belong to the object as a whole. "
             "Default: field.");
  add_number(
      *app, "--budget", a.budget, 1, std::numeric_limits<uint64_t>::max(),
      fmt::format("Steps a search may take before a checker answers 'undecided'. Default: {}.", a.budget));
  add_choice(*app, "--engine", a.engine, "auto|graph|clock",
             "atomicity, determinism: graph explains, clock is faster and only says where; auto decides with "
             "clock and explains with graph. Default: auto.");
  add_choice(*app, "--race-filter", a.race_filter, "auto|on|off",
             "atomicity, determinism: leave out plain accesses that race with nothing; the verdict is the "
             "same. Default: auto, on for the clock engine.");
  add_text(*app, "--config", a.config, kFileType,
           "Settings to use instead of those in heddle.toml. See below.");
  app->footer(footer());
  commands.push_back({app, [arguments] { return check(*arguments); }});
}

}  // namespace heddle
