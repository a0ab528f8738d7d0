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
      {"steps", Json::array()},
      {"certain_at", certain_at(finding)},
      {"conclusion", printable(finding.conclusion)},
      {"advice", printable(finding.advice)},
      {"input", printable(finding.input)},
      {"count", finding.count},
      {"fingerprint", finding.fingerprint},
  };
  for (const Step& step : finding.steps) json["steps"].push_back(step_json(step));
  if (!finding.schedule.empty()) {
    json["schedule"] = Json::array();
    for (const Step& step : finding.schedule) json["schedule"].push_back(step_json(step));
  }
  for (const Delay& delay : finding.delays)
    json["delays"].push_back({{"write", step_json(delay.write)}, {"until", step_json(delay.until)}});
  for (const Step& step : finding.fences) json["fences"].push_back(step_json(step));
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
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heddle
