#include "cli/report_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "checkers/registry.h"
#include "cli/options.h"
#include "cli/settings.h"
#include "report/dot_report.h"
#include "report/json_report.h"
#include "report/sarif_report.h"
#include "report/witness_trace.h"

namespace heddle {

namespace {

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

std::string render(const RunReport& report, const ReportOptions& options, bool told) {
  if (options.gen_suppressions) return generate_suppressions(report.findings);
  if (options.format == "json") return json_report(report);
  if (options.format == "sarif") return sarif_report(report, {source_root()});
  const TextStyle style = style_for(options, options.output == "-"                ? STDOUT_FILENO
                                             : options.output == kToStandardError ? STDERR_FILENO
                                                                                  : -1);
  return told ? summary_text(report, style) : text_report(report, style);
}

// Nothing that is read may be written over: a trace is not easily made again.
void refuse_to_replace_inputs(const std::string& output, const ReportOptions& options,
                              const std::vector<std::string>& inputs) {
  const auto refuse_to_replace = [&](const std::string& input, std::string_view what) {
    if (is_same_file(output, input))
      throw InputError(fmt::format("{}: cannot write: it is {}", output, what));
  };
  for (const std::string& file : inputs) refuse_to_replace(file, "a trace to check");
  for (const std::string& file : options.suppressions) refuse_to_replace(file, "a file of suppressions");
  refuse_to_replace(options.config.empty() ? kConfigFile : options.config, "the config file");
}

// Of an earlier run with more schedules than this one: what is in them is no longer predicted. Files that are
// no such schedules are left alone.
void remove_further_witnesses(const std::string& path, std::size_t written) {
  for (std::size_t number = written + 1;; ++number) {
    const std::string further = numbered_path(path, number);
    std::error_code unreadable;
    if (!std::filesystem::is_regular_file(further, unreadable) || !is_witness_trace(further)) return;
    std::filesystem::remove(further, unreadable);
  }
}

}  // namespace

CheckerOptions checker_options(const ReportOptions& options) {
  CheckerOptions result;
  result.granularity = options.granularity == "object" ? Granularity::kObject : Granularity::kField;
  result.budget = options.budget;
  result.engine = options.engine == "graph"   ? Engine::kGraph
                  : options.engine == "clock" ? Engine::kClock
                                              : Engine::kAuto;
  result.race_filter = options.race_filter == "on"    ? RaceFilter::kOn
                       : options.race_filter == "off" ? RaceFilter::kOff
                                                      : RaceFilter::kAuto;
  result.race_freedom =
      options.race_freedom == "common-lock" ? RaceFreedom::kCommonLock : RaceFreedom::kPairwise;
  return result;
}

uint64_t kept_per_checker(const ReportOptions& options) {
  if (options.gen_suppressions) return std::numeric_limits<uint64_t>::max();
  return std::max(options.limit, kKeptPerChecker);
}

bool wants_spans(const ReportOptions& options) { return options.format == "json" || !options.html.empty(); }

HtmlOptions html_options() {
  HtmlOptions options;
  options.source_directories = {".", source_root()};
  return options;
}

TextStyle style_for(const ReportOptions& options, int descriptor) {
  return text_style(colour_choice(options.color), descriptor);
}

ReportWriter::ReportWriter(const ReportOptions& options, const std::vector<std::string>& inputs)
    : options_(options), suppressions_(load_suppressions(options.suppressions)) {
  refuse_shared_outputs(inputs);
  if (options.output != kToStandardError) output_.emplace(options.output);
  if (!options.dot.empty()) picture_.emplace(options.dot);
  if (!options.html.empty()) page_.emplace(options.html);
  if (!options.emit_witness.empty()) witness_.emplace(options.emit_witness);
}

void ReportWriter::refuse_shared_outputs(const std::vector<std::string>& inputs) const {
  const std::pair<const std::string*, const char*> outputs[] = {{&options_.output, "--output"},
                                                                {&options_.dot, "--dot"},
                                                                {&options_.html, "--html"},
                                                                {&options_.emit_witness, "--emit-witness"}};
  for (const auto& [file, name] : outputs) {
    if (file->empty()) continue;
    refuse_to_replace_inputs(*file, options_, inputs);
    for (const auto& [other, other_name] : outputs) {
      if (other == file) break;
      if (*other == *file || is_same_file(*other, *file))
        throw InputError(fmt::format("{} and {} cannot both write to {}", other_name, name,
                                     *file == "-" ? "standard output" : *file));
    }
  }
}

// The first schedule goes to the file that was named, further ones to files numbered after it.
void ReportWriter::write_witnesses(const RunReport& report) {
  if (!witness_) return;
  std::size_t count = 0;
  for (const Finding& finding : report.findings) {
    if (finding.schedule.empty()) continue;
    const std::string text = witness_trace(finding);
    if (++count == 1) {
      witness_->write(text);
      witness_->commit();
    } else if (options_.emit_witness != "-") {
      OutputFile further(numbered_path(options_.emit_witness, count));
      further.write(text);
      further.commit();
    }
  }
  if (options_.emit_witness != "-") remove_further_witnesses(options_.emit_witness, count);
  if (count > 0) return;
  const bool has_predicted = std::any_of(report.checkers.begin(), report.checkers.end(),
                                         [](const CheckerSummary& ran) { return ran.name == "blocks"; });
  fmt::print(stderr, "heddle: nothing written to {}: {}\n", printable(options_.emit_witness),
             has_predicted ? "blocks predicts no order of its own"
                           : "no finding has an order of its own to show; --checkers blocks finds such");
}

int ReportWriter::write(RunReport report, bool told) {
  apply_suppressions(suppressions_, report);
  if (!options_.gen_suppressions) limit_findings(report, options_.limit);
  const std::string text = render(report, options_, told);
  if (output_) {
    output_->write(text);
  } else {
    fmt::print(stderr, "{}", text);
  }
  if (picture_) picture_->write(dot_report(report));
  if (page_) page_->write(html_report(report, html_options()));
  if (output_) output_->commit();
  if (picture_) picture_->commit();
  if (page_) page_->commit();
  write_witnesses(report);
  // What was not kept was not compared to the suppressions either.
  const bool nothing = report.findings.empty() && report.left_out_occurrences == 0;
  return nothing ? kExitClean : static_cast<int>(options_.exit_code);
}

void add_report_options(CLI::App& app, ReportOptions& o) {
  add_text(app, "--checkers,-c", o.checkers, kCheckersType,
           "What to check, separated by commas, or 'all'. See the list below.");
  add_choice(app, "--format,-f", o.format, "text|json|sarif",
             "How to report: for people (the default), for programs, for code scanning services.");
  add_text(app, "--output,-o", o.output, kFileType,
           fmt::format("Where to write the report; '-' is standard output. A file appears only once it is "
                       "complete. Default: standard {}.",
                       o.output == kToStandardError ? "error" : "output"));
  add_text(app, "--html", o.html, kFileType,
           "Also write the findings as one page for the browser, with pictures and source; '-' is standard "
           "output.")
      ->check([](const std::string& file) { return file.empty() ? "the name of the file is empty" : ""; });
  add_text(
      app, "--dot", o.dot, kFileType,
      "Also draw the findings that put threads in a circle (atomicity violations, interference, lock-order "
      "cycles), for Graphviz; '-' is standard output.")
      ->check([](const std::string& file) { return file.empty() ? "the name of the file is empty" : ""; });
  add_choice(app, "--color", o.color, "auto|always|never", "Colour in the text report; auto: on a terminal.");
  add_texts(app, "--suppressions,-s", o.suppressions, kFileType,
            "Findings to leave out. Can be given several times. See below.");
  app.add_flag(
      "--gen-suppressions", o.gen_suppressions,
      "Instead of the report, print suppressions for all findings, whatever the limit, ready for a file.");
  add_number(app, "--exit-code", o.exit_code, 0, 255,
             fmt::format("Exit code when there are findings. Default: {}.", o.exit_code));
  add_number(app, "--limit", o.limit, 1, 1'000'000,
             fmt::format("How many findings to show at most; the rest is counted. Default: {}.", o.limit));
  add_choice(app, "--granularity", o.granularity, "field|object",
             "lockset: whether each field has its own locks or they belong to the object as a whole. "
             "Default: field.");
  add_number(
      app, "--budget", o.budget, 1, std::numeric_limits<uint64_t>::max(),
      fmt::format("Steps a search may take before a checker answers 'undecided'. Default: {}.", o.budget));
  add_choice(app, "--engine", o.engine, "auto|graph|clock",
             "atomicity, determinism: graph explains, clock is faster and only says where; auto decides with "
             "clock and explains with graph. Default: auto.");
  add_choice(app, "--race-filter", o.race_filter, "auto|on|off",
             "atomicity, determinism: leave out plain accesses that race with nothing; the verdict is the "
             "same. Default: auto, on for the clock engine.");
  add_choice(
      app, "--race-freedom", o.race_freedom, "pairwise|common-lock",
      "reduction: an access is free of races when it shares a lock with every rival, or (coarser) when one "
      "lock is held at every access. Default: pairwise.");
  add_text(
      app, "--emit-witness", o.emit_witness, kFileType,
      "blocks: also write the order of operations that shows a predicted violation, as a trace; further ones "
      "go to FILE.2, FILE.3 (before the extension). '-' is standard output, for the first.")
      ->check([](const std::string& file) { return file.empty() ? "the name of the file is empty" : ""; });
  add_text(app, "--config", o.config, kFileType,
           "Settings to use instead of those in heddle.toml. See below.");
}

std::string checkers_help() {
  std::string text = "Checkers (those marked * run by default):\n";
  for (const CheckerEntry& checker : all_checkers())
    text += fmt::format("  {} {:<12} {}\n", checker.by_default ? '*' : ' ', checker.name, checker.brief);
  text +=
      R"(  A finding is marked observed (it happened in this run), predicted (it happens in another order of the
  same operations) or potential. Observed ones are real; predicted ones as far
  as the operations shown go; a potential one may be a false alarm.

)";
  return text;
}

std::string suppressions_and_settings_help(const std::string& command) {
  return fmt::format(
      R"(Suppressions:
  A TOML file with an entry for each finding you have looked at and accept:
    [[suppress]]
    rule = "HD1001"
    frames = ["bank.cpp:* in Account::withdraw"]
    reason = "the counter is only a statistic"
    expires = 2027-01-31
  All but rule and reason may be left out. Entries that are unused or expired are named in the report.

Settings:
  Every long option can also be set, without its dashes, in the environment variable HEDDLE_OPTIONS
    HEDDLE_OPTIONS=checkers=all:limit=10 {1}
  and in a config file, by default heddle.toml in the current directory:
    [{0}]
    checkers = "race,deadlock"
    suppressions = ["known.toml"]
  The command line wins over HEDDLE_OPTIONS, and that over the config file.
)",
      command,
      command == "check" ? "heddle check run.std"
      : command == "try" ? "heddle try bank.cpp"
                         : fmt::format("heddle {} -- ./my_test", command));
}

}  // namespace heddle
