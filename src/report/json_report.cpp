#include "report/json_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/location.h"

namespace heddle {

namespace {

using Json = nlohmann::ordered_json;

Json texts_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(printable(text));
  return list;
}

Json frame_json(const std::string& frame) {
  const Location location = parse_location(frame);
  Json json = {{"text", printable(frame)}};
  if (!location.file.empty()) json["file"] = printable(location.file);
  if (location.line != 0) json["line"] = location.line;
  if (location.column != 0) json["column"] = location.column;
  if (!location.function.empty()) json["function"] = printable(location.function);
  return json;
}

Json step_json(const Step& step) {
  Json json = {
      {"event", step.event},
      {"thread", printable(step.thread)},
      {"operation", printable(step.operation)},
      {"site", printable(fmt::format("{}", fmt::join(step.frames, " < ")))},
      {"because", printable(step.because)},
      {"phrase", printable(step.phrase)},
      {"block", printable(step.block)},
      {"held", printable(step.held)},
      {"frames", Json::array()},
  };
  for (const std::string& frame : step.frames) json["frames"].push_back(frame_json(frame));
  return json;
}

Json steps_json(const std::vector<Step>& steps) {
  Json list = Json::array();
  for (const Step& step : steps) list.push_back(step_json(step));
  return list;
}

Json finding_json(const Finding& finding) {
  Json json = {
      {"rule", finding.rule->id},
      {"name", finding.rule->name},
      {"title", finding.rule->title},
      {"checker", finding.checker},
      {"strength", to_string(finding.strength)},
      {"message", printable(finding.message)},
      {"blocks", texts_json(finding.blocks)},
      {"threads", texts_json(finding.threads)},
      {"steps", steps_json(finding.steps)},
      {"certain_at", certain_at(finding)},
      {"conclusion", printable(finding.conclusion)},
      {"advice", printable(finding.advice)},
      {"input", printable(finding.input)},
      {"count", finding.count},
      {"fingerprint", finding.fingerprint},
  };
  if (!finding.schedule.empty()) json["schedule"] = steps_json(finding.schedule);
  for (const Delay& delay : finding.delays)
    json["delays"].push_back({{"write", step_json(delay.write)}, {"until", step_json(delay.until)}});
  for (const Step& step : finding.fences) json["fences"].push_back(step_json(step));
  for (const Chain& chain : finding.chains)
    json["chains"].push_back({{"title", printable(chain.title)}, {"steps", steps_json(chain.steps)}});
  return json;
}

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

std::string json_report(const RunReport& report) {
  Json json = {
      {"heddle", report.version},
      {"inputs", Json::array()},
      {"checkers", Json::array()},
      {"rules", Json::array()},
      {"findings", Json::array()},
      {"suppressed", Json::array()},
      {"left_out", report.left_out},
      {"left_out_occurrences", report.left_out_occurrences},
      {"notices", texts_json(report.notices)},
  };
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
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heddle
