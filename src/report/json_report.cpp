#include "report/json_report.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/finding_json.h"

namespace heddle {

namespace {

using Json = nlohmann::ordered_json;

Json sequential_run_json(const SequentialRun& run) {
  Json json = {
      {"input", printable(run.input)},
      {"tasks", run.tasks},
      {"focus", run.focus},
      {"events", run.events},
      {"irrelevant_events", run.irrelevant_events},
      {"maybes", run.maybes},
      {"irrelevant_maybes", run.irrelevant_maybes},
      {"conflict_warnings", run.conflict_warnings},
      {"ndseq_warnings", run.warnings},
      {"counted_all", run.counted_all},
      {"found", run.is_found},
  };
  if (!run.is_certain) json["uncertain"] = true;
  if (!run.is_found) return json;
  json["order"] = Json::array();
  for (const SequentialRun::Place& place : run.order)
    json["order"].push_back({{"task", printable(place.task)}, {"depth", place.depth}});
  json["order_left_out"] = run.order_left_out;
  json["skipped"] = steps_json(run.skipped);
  json["skipped_left_out"] = run.skipped_left_out;
  return json;
}

}  // namespace

Json report_json(const RunReport& report) {
  Json json = {
      {"heddle", report.version},
      {"format", kFindingsFormat},
      {"command", printable(report.command)},
      {"inputs", Json::array()},
      {"checkers", Json::array()},
      {"rules", Json::array()},
      {"findings", Json::array()},
      {"suppressed", Json::array()},
      {"left_out", report.left_out},
      {"left_out_occurrences", report.left_out_occurrences},
      {"notices", Json::array()},
  };
  for (const std::string& notice : report.notices) json["notices"].push_back(printable(notice));
  for (const InputSummary& input : report.inputs)
    json["inputs"].push_back(
        {{"path", printable(input.path)}, {"events", input.events}, {"note", printable(input.note)}});
  for (const CheckerSummary& checker : report.checkers)
    json["checkers"].push_back(
        {{"name", checker.name}, {"verdict", to_string(checker.verdict)}, {"note", printable(checker.note)}});
  for (const RuleHelp& help : report.rules)
    json["rules"].push_back({{"id", help.rule->id},
                             {"name", help.rule->name},
                             {"title", help.rule->title},
                             {"brief", help.rule->brief}});
  for (const Finding& finding : report.findings) json["findings"].push_back(finding_json(finding));
  for (const SuppressedFinding& suppressed : report.suppressed) {
    Json finding = finding_json(suppressed.finding);
    finding["suppression"] = {{"reason", printable(suppressed.reason)},
                              {"where", printable(suppressed.where)}};
    json["suppressed"].push_back(std::move(finding));
  }
  for (const SequentialRun& run : report.sequential_runs)
    json["sequential_runs"].push_back(sequential_run_json(run));
  return json;
}

std::string json_report(const RunReport& report) {
  return report_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heddle
