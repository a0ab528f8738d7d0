#include "report/json_report.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/finding_json.h"

namespace heddle {

namespace {
using Json = nlohmann::ordered_json;
}

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
  return json;
}

std::string json_report(const RunReport& report) {
  return report_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heddle
