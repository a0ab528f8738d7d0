#include "report/finding_json.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/location.h"
#include "report/run_report.h"

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
  if (step.transaction) json["transaction"] = *step.transaction;
  for (const std::string& frame : step.frames) json["frames"].push_back(frame_json(frame));
  return json;
}

Json span_json(const Span& span) {
  Json json = {
      {"kind", to_string(span.kind)},
      {"thread", printable(span.thread)},
      {"name", printable(span.name)},
      {"from", span.from},
      {"to", span.to},
  };
  if (span.is_open) json["open"] = true;
  return json;
}

}  // namespace

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
      {"steps", Json::array()},
      {"certain_at", certain_at(finding)},
      {"conclusion", printable(finding.conclusion)},
      {"advice", printable(finding.advice)},
      {"input", printable(finding.input)},
      {"count", finding.count},
      {"fingerprint", finding.fingerprint},
  };
  json["steps"] = steps_json(finding.steps);
  if (!finding.schedule.empty()) json["schedule"] = steps_json(finding.schedule);
  for (const Delay& delay : finding.delays)
    json["delays"].push_back({{"write", step_json(delay.write)}, {"until", step_json(delay.until)}});
  if (!finding.fences.empty()) json["fences"] = steps_json(finding.fences);
  for (const Span& span : finding.spans) json["spans"].push_back(span_json(span));
  for (const Chain& chain : finding.chains)
    json["chains"].push_back({{"title", printable(chain.title)}, {"steps", steps_json(chain.steps)}});
  return json;
}

}  // namespace heddle
