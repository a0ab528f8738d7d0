// heddle check: reads traces, runs checkers, reports.
#include <algorithm>
#include <memory>

#include "base/error.h"
#include "checkers/registry.h"
#include "cli/check_traces.h"
#include "cli/command_line.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "cli/report_options.h"

namespace heddle {

namespace {

struct CheckArguments {
  std::vector<std::string> files;
  ReportOptions report;
};

int check(const CheckArguments& arguments) {
  const std::vector<const CheckerEntry*> checkers = select_checkers(arguments.report.checkers);
  if (std::count(arguments.files.begin(), arguments.files.end(), "-") > 1)
    throw InputError("standard input ('-') can be read only once");
  ReportWriter writer(arguments.report, arguments.files);
  RunReport report = check_traces(arguments.files, checkers, checker_options(arguments.report),
                                  kept_per_checker(arguments.report), wants_spans(arguments.report));
  report.command = own_command_line();
  return writer.write(std::move(report));
}

constexpr const char* kExamples =
    R"(Examples:
  heddle check run.std                              the default checkers, a report for people
  heddle check run.std --checkers all               every checker
  heddle check a.std b.heddle --checkers race,deadlock
  heddle check run.std --format sarif --output run.sarif
  heddle check run.std --html run.html              a page with pictures, for the browser
  heddle check run.std --dot run.dot; dot -Tsvg run.dot -o run.svg
  xz -dc run.std.xz | heddle check -                a trace from standard input
  heddle check run.std --gen-suppressions >> known.toml
  heddle check run.std --suppressions known.toml    what you have looked at stays out of the report

)";
constexpr const char* kExitCodes =
    R"(
Exit codes:
  0    nothing found, or all of it suppressed
  66   findings (--exit-code sets another)
  2    the command line or an input is at fault; nothing was written
  125  Heddle itself failed
)";

}  // namespace

void add_check_command(CLI::App& root, Commands& commands) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* app = root.add_subcommand("check", "Check traces of a program and report what is wrong with it.");
  add_texts(*app, "FILE", arguments->files, kFileType,
            "A trace, in the text format or in Heddle's own; '-' is standard input. Each file is checked on "
            "its own.")
      ->required();
  add_report_options(*app, arguments->report);
  app->footer(checkers_help() + kExamples + suppressions_and_settings_help("check") + kExitCodes);
  commands.push_back({app, [arguments] { return check(*arguments); }});
}

}  // namespace heddle
