// heddle report: makes a page of findings that were written earlier.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/rule_pages.h"
#include "report/findings_file.h"
#include "report/html_report.h"
#include "report/layout.h"

namespace heddle {

namespace {

struct ReportArguments {
  std::string file;
  std::string html;
  std::string earlier;
  std::vector<std::string> source_directories;
};

int report(const ReportArguments& arguments) {
  if (arguments.file == "-" && arguments.earlier == "-")
    throw InputError("standard input ('-') can be read only once");
  for (const std::string* input : {&arguments.file, &arguments.earlier})
    if (is_same_file(*input, arguments.html))
      throw InputError(fmt::format("{}: cannot write: it is a findings file to read", arguments.html));
  for (const std::string& directory : arguments.source_directories)
    if (!std::filesystem::is_directory(directory))
      throw InputError(fmt::format("--source {}: there is no such directory", printable(directory)));
  FindingsFile findings = FindingsFile::load(arguments.file);
  for (RuleHelp& help : findings.report.rules) help.page = rule_page(help.rule->id);
  std::optional<FindingsFile> earlier;
  if (!arguments.earlier.empty()) earlier = FindingsFile::load(arguments.earlier);

  OutputFile page(arguments.html);
  HtmlOptions options = html_options();
  options.source_directories.insert(options.source_directories.begin(), arguments.source_directories.begin(),
                                    arguments.source_directories.end());
  if (earlier) {
    options.earlier = &earlier->report;
    options.earlier_name = input_name(arguments.earlier);
    options.earlier_incomplete = earlier->incomplete;
  }
  options.incomplete = findings.incomplete;
  for (const std::string* doubt : {&options.incomplete, &options.earlier_incomplete})
    if (!doubt->empty()) fmt::print(stderr, "heddle: warning: {}\n", printable(*doubt));
  page.write(html_report(findings.report, options));
  page.commit();
  if (arguments.html != "-")
    fmt::print(stderr, "heddle: {} is written ({}); open it in a browser\n", printable(arguments.html),
               grouped(findings.report.findings.size(), "finding"));
  return kExitClean;
}

constexpr const char* kReportExamples =
    R"(The page needs nothing but itself and asks nobody for anything: it can be sent by mail or kept beside a build.
The lines of source it shows are read now, where they are found; files that are missing are named in it.

Examples:
  heddle check run.std --checkers all --format json --output run.json
  heddle report run.json --html run.html
  heddle report run.json --html run.html --source ../src          sources are below another directory
  heddle report new.json --compare old.json --html changes.html   what is new, known, fixed
  heddle try bank.cpp --html bank.html                            without a findings file in between

Exit codes:
  0    the page was written, whatever the findings; also of a findings file that was cut off or is of a newer
       Heddle, with a warning, as far as it can be read
  2    the command line or a findings file is at fault; nothing was written
  125  Heddle itself failed
)";

}  // namespace

void add_report_command(CLI::App& root, Commands& commands) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* app = root.add_subcommand("report", "Make a page for the browser from findings written earlier.");
  add_text(*app, "FILE", arguments->file, kFileType,
           "Findings, as --format json writes them; '-' is standard input.")
      ->required();
  add_text(*app, "--html", arguments->html, kFileType,
           "Where to write the page; '-' is standard output. The file appears only once it is complete.")
      ->required();
  add_text(*app, "--compare", arguments->earlier, kFileType,
           "Earlier findings to compare with: the page tells which are new, known and fixed.");
  add_texts(
      *app, "--source", arguments->source_directories, "DIRECTORY",
      "Where to look for source files with relative names, before the current directory and the root of the "
      "git work tree around it. Can be given several times.");
  app->footer(kReportExamples);
  commands.push_back({app, [arguments] { return report(*arguments); }});
}

}  // namespace heddle
