#include "report/html_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "report/comparison.h"
#include "report/finding_json.h"
#include "report/finding_sample.h"
#include "report/json_report.h"
#include "report/location.h"
#include "report/report_page.h"
#include "report/source_excerpts.h"
#include "report/suppressions.h"

namespace heddle {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostScheduled = 400;  // steps of a schedule
constexpr std::size_t kMostFiles = 200;      // counted one by one when findings are left out

// JSON that can stand in a script element: without '<' nothing in it can end the element or begin a comment.
// All that is not ASCII is escaped, and so are the line separators U+2028 and U+2029.
std::string script_text(const Json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

// The file where the defect shows, which is where the last step is.
std::string file_of(const Finding& finding) {
  if (finding.steps.empty() || finding.steps.back().frames.empty()) return {};
  return parse_location(finding.steps.back().frames.front()).file;
}

// A finding that the page may show: one of the report, or one that only the earlier report has.
struct Candidate {
  const Finding* finding;
  std::optional<Change> change;  // none: nothing is compared
};

std::vector<Candidate> candidates(const RunReport& report, const std::optional<Comparison>& comparison) {
  std::vector<Candidate> result;
  result.reserve(report.findings.size() + (comparison ? comparison->gone.size() : 0));
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    result.push_back(
        {&report.findings[i], comparison ? std::optional(comparison->findings[i]) : std::nullopt});
  if (comparison)
    for (std::size_t i = 0; i < comparison->gone.size(); ++i)
      result.push_back({comparison->gone[i], comparison->gone_as[i]});
  return result;
}

// What the sample is made of: every rule in every file is to be there, and all that is new.
std::string kind_of(const Candidate& candidate) {
  std::string kind(candidate.finding->rule->id);
  kind += '\n';
  kind += to_string(candidate.finding->strength);
  kind += '\n';
  if (candidate.change) kind += to_string(*candidate.change);
  kind += '\n';
  return kind + file_of(*candidate.finding);
}

// A schedule of thousands of steps is cut down to its begin, its end and the steps of the argument. The
// result is how many are left out.
std::size_t shorten_schedule(Finding& finding) {
  std::vector<Step>& schedule = finding.schedule;
  if (schedule.size() <= kMostScheduled) return 0;
  const std::size_t before = schedule.size();
  const auto is_argued = [&](const Step& step) {
    return std::any_of(finding.steps.begin(), finding.steps.end(), [&](const Step& argued) {
      return argued.event == step.event && argued.thread == step.thread && argued.operation == step.operation;
    });
  };
  std::vector<Step> kept;
  for (std::size_t i = 0; i < before; ++i)
    if (i < kMostScheduled / 2 || before - i <= kMostScheduled / 2 || is_argued(schedule[i]))
      kept.push_back(std::move(schedule[i]));
  schedule = std::move(kept);
  return before - schedule.size();
}

Json page_finding(const Candidate& candidate) {
  Finding finding = *candidate.finding;
  const std::size_t left_out = shorten_schedule(finding);
  Json json = finding_json(finding);
  if (left_out > 0) json["schedule_left_out"] = left_out;
  if (candidate.change) json["change"] = to_string(*candidate.change);
  json["suppress"] = generate_suppressions({finding});
  return json;
}

Json sources_json(const std::map<std::string, SourceExcerpt>& sources) {
  Json json = Json::object();
  for (const auto& [file, excerpt] : sources) {
    Json& entry = json[printable(file)] = Json::object();
    if (!excerpt.missing.empty()) entry["missing"] = excerpt.missing;
    Json lines = Json::object();
    for (const auto& [number, text] : excerpt.lines) lines[std::to_string(number)] = text;
    entry["lines"] = std::move(lines);
  }
  return json;
}

// How many findings there are of each kind, for a page that does not have them all.
Json counts_json(const std::vector<Candidate>& all) {
  std::map<std::string, uint64_t> rules, strengths, files, changes;
  for (const Candidate& candidate : all) {
    ++rules[std::string(candidate.finding->rule->id)];
    ++strengths[std::string(to_string(candidate.finding->strength))];
    if (candidate.change) ++changes[std::string(to_string(*candidate.change))];
    const std::string file = printable(file_of(*candidate.finding));
    if (files.contains(file) || files.size() < kMostFiles) ++files[file];
  }
  return {
      {"all", all.size()}, {"rule", rules}, {"strength", strengths}, {"file", files}, {"change", changes}};
}

Json comparison_json(const Comparison& comparison, const std::string& name) {
  Json json = {{"with", printable(name)}, {"caveats", comparison.caveats}};
  for (const Change change : {Change::kNew, Change::kKnown, Change::kFixed, Change::kUnchecked})
    json[std::string(to_string(change))] =
        std::count(comparison.findings.begin(), comparison.findings.end(), change) +
        std::count(comparison.gone_as.begin(), comparison.gone_as.end(), change);
  return json;
}

}  // namespace

std::string html_report(const RunReport& report, const HtmlOptions& options) {
  std::optional<Comparison> comparison;
  if (options.earlier != nullptr)
    comparison =
        compare(report, *options.earlier, options.incomplete.empty(), options.earlier_incomplete.empty());
  const std::vector<Candidate> all = candidates(report, comparison);
  std::vector<std::string> kinds;
  kinds.reserve(all.size());
  for (const Candidate& candidate : all) kinds.push_back(kind_of(candidate));

  SourceExcerpts excerpts(options.source_directories);
  std::string findings;
  std::size_t shown = 0;
  for (const std::size_t i : sample(kinds, options.most_findings)) {
    std::string text = script_text(page_finding(all[i]));
    if (findings.size() + text.size() > options.most_bytes) continue;
    excerpts.add(*all[i].finding);
    findings += shown++ == 0 ? "" : ",\n";
    findings += text;
  }

  RunReport rest = report;  // without what is written apart
  rest.findings.clear();
  if (rest.suppressed.size() > options.most_findings) rest.suppressed.resize(options.most_findings);
  Json head = report_json(rest);
  head.erase("findings");
  for (Json& suppressed : head["suppressed"]) suppressed.erase("steps");  // only named, not shown
  head["suppressed_count"] = report.suppressed.size();
  for (std::size_t i = 0; i < report.rules.size(); ++i) head["rules"][i]["page"] = report.rules[i].page;
  head["sources"] = sources_json(excerpts.read());
  if (shown < all.size()) head["sample"] = counts_json(all);
  if (!options.incomplete.empty()) head["incomplete"] = printable(options.incomplete);
  if (comparison) head["compared"] = comparison_json(*comparison, options.earlier_name);

  const ReportPage page = report_page();
  return page.before + "<script type=\"application/json\" id=\"heddle-report\">" + script_text(head) +
         "</script>\n<script type=\"application/json\" id=\"heddle-findings\">[" + findings + "]</script>" +
         page.after;
}

}  // namespace heddle
