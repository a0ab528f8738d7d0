#include "report/sarif_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/location.h"
#include "report/source_uri.h"

namespace heddle {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSourceRoot = "SRCROOT";

std::string_view level(Strength strength) {
  switch (strength) {
    case Strength::kObserved: return "error";
    case Strength::kPredicted: return "warning";
    case Strength::kPotential: return "note";
  }
  return {};
}

// Text as the standard wants it in messages: braces doubled (§3.11.5), and nothing that reads as an embedded
// link (§3.11.6), as "operator[](5)" would.
std::string message_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '(' && result.ends_with(']')) result += ' ';
    result += c;
    if (c == '{' || c == '}') result += c;
  }
  return result;
}

Json message(std::string_view text) { return {{"text", message_text(text)}}; }

// The sentences of a text that are there, with a full stop each.
std::string sentences(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += ' ';
    text += part;
    if (!part.ends_with('.') && !part.ends_with('?') && !part.ends_with('!')) text += '.';
  }
  return text;
}

// "T1 read balance, holding no lock": what a step is, for a list of locations.
std::string step_text(const Step& step) {
  std::string text = printable(step.thread + " " + step.phrase);
  if (!step.held.empty()) text += ", " + printable(step.held);
  if (!step.because.empty()) text += ": " + printable(step.because);
  return text;
}

class SarifWriter {
 public:
  SarifWriter(const RunReport& report, const SarifOptions& options) : report_(report), options_(options) {}

  Json log() const {
    return {{"$schema",
             "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({run()})}};
  }

 private:
  Json run() const {
    Json base = {{"description", message("The root of the source tree.")}};
    if (!options_.source_root.empty()) base["uri"] = root_uri(options_.source_root);
    Json run = {
        {"tool", {{"driver", driver()}}},
        {"invocations", Json::array({invocation()})},
        {"originalUriBaseIds", {{kSourceRoot, std::move(base)}}},
        {"columnKind", "unicodeCodePoints"},
        {"results", Json::array()},
    };
    for (const Finding& finding : report_.findings) run["results"].push_back(result(finding));
    for (const SuppressedFinding& suppressed : report_.suppressed) {
      Json json = result(suppressed.finding);
      json["suppressions"] = Json::array({{{"kind", "external"},
                                           {"status", "accepted"},
                                           {"justification", printable(suppressed.reason)},
                                           {"properties", {{"where", printable(suppressed.where)}}}}});
      run["results"].push_back(std::move(json));
    }
    return run;
  }

  Json driver() const {
    Json driver = {{"name", "Heddle"}, {"version", report_.version}, {"rules", Json::array()}};
    for (const RuleHelp& help : report_.rules) {
      Json rule = {
          {"id", help.rule->id},
          {"name", help.rule->name},
          {"shortDescription", message(sentences({std::string(help.rule->title)}))},
          {"fullDescription", message(sentences({std::string(help.rule->brief)}))},
      };
      // Pages are taken literally: they have no placeholders, and viewers do not undo doubled braces here.
      if (!help.page.empty()) rule["help"] = {{"text", help.page}, {"markdown", help.page}};
      // Each result states its own level, by its strength.
      rule["defaultConfiguration"] = {{"level", "warning"}};
      driver["rules"].push_back(std::move(rule));
    }
    return driver;
  }

  // What limits the worth of the results travels as notifications.
  Json invocation() const {
    Json notifications = Json::array();
    const auto notify = [&](std::string_view level, const std::string& text) {
      notifications.push_back({{"level", level}, {"message", message(sentences({printable(text)}))}});
    };
    for (const InputSummary& input : report_.inputs)
      if (!input.note.empty()) notify("warning", input.path + ": " + input.note);
    for (const CheckerSummary& checker : report_.checkers) {
      const bool undecided = checker.verdict == Verdict::kUndecided;
      if (undecided || !checker.note.empty())
        notify(undecided ? "warning" : "note",
               fmt::format("{}: {}{}{}", checker.name, undecided ? "undecided" : "",
                           undecided && !checker.note.empty() ? "; " : "", checker.note));
    }
    if (report_.left_out > 0)
      notify("warning", fmt::format("{} left out", counted(report_.left_out, "finding")));
    if (report_.left_out_occurrences > 0)
      notify("warning", fmt::format("{} of further findings not kept",
                                    counted(report_.left_out_occurrences, "occurrence")));
    for (const std::string& notice : report_.notices) notify("note", notice);

    Json invocation = {{"executionSuccessful", true}};
    if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
    return invocation;
  }

  Json result(const Finding& finding) const {
    Json result = {{"ruleId", finding.rule->id}};
    const auto rule = std::find_if(report_.rules.begin(), report_.rules.end(),
                                   [&](const RuleHelp& help) { return help.rule->id == finding.rule->id; });
    if (rule != report_.rules.end()) result["ruleIndex"] = rule - report_.rules.begin();
    result["level"] = level(finding.strength);
    result["message"] = message(result_text(finding));
    add_locations(finding, result);
    if (!finding.steps.empty()) {
      result["codeFlows"] = Json::array({code_flow(finding)});
      for (const Chain& chain : finding.chains) result["codeFlows"].push_back(chain_flow(chain));
      Json stacks = stacks_of(finding);
      if (!stacks.empty()) result["stacks"] = std::move(stacks);
    }
    result["partialFingerprints"] = {{"heddle/v1", finding.fingerprint}};
    if (finding.count > 1) result["occurrenceCount"] = finding.count;
    result["properties"] = {{"checker", finding.checker}, {"strength", to_string(finding.strength)}};
    if (!finding.input.empty()) result["properties"]["input"] = printable(finding.input);
    for (const Step& step : finding.fences)
      result["properties"]["fencesAfter"].push_back(
          printable(fmt::format("{} {}{}{}", step.thread, step.phrase, step.frames.empty() ? "" : " at ",
                                step.frames.empty() ? "" : step.frames.front())));
    return result;
  }

  static std::string result_text(const Finding& finding) {
    std::string headline = std::string(finding.rule->title) + ": " + printable(finding.message);
    headline[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(headline[0])));
    const std::string advice = finding.advice.empty() ? "" : "Fix: " + printable(finding.advice);
    return sentences({headline, printable(finding.conclusion), advice});
  }

  // The last step is where the defect shows; the others are related to it.
  void add_locations(const Finding& finding, Json& result) const {
    if (finding.steps.empty()) return;
    Json last = location(finding.steps.back());
    if (!last.empty()) result["locations"] = Json::array({std::move(last)});
    Json related = Json::array();
    for (std::size_t i = 0; i + 1 < finding.steps.size(); ++i) {
      Json json = location(finding.steps[i]);
      if (json.empty()) continue;
      json["id"] = i + 1;
      json["message"] = message(step_text(finding.steps[i]));
      related.push_back(std::move(json));
    }
    if (!related.empty()) result["relatedLocations"] = std::move(related);
  }

  // Where a frame is; an empty object when nothing is known. `block` is used where the frame names no
  // function.
  Json location(const std::string& frame, const std::string& block) const {
    const Location place = parse_location(frame);
    Json json = Json::object();
    if (!place.file.empty()) {
      const SourceUri uri = source_uri(place.file, options_.source_root);
      Json artifact = {{"uri", uri.uri}};
      if (uri.below_root) artifact["uriBaseId"] = kSourceRoot;
      json["physicalLocation"] = {{"artifactLocation", std::move(artifact)}};
      if (place.line != 0) {
        Json region = {{"startLine", place.line}};
        if (place.column != 0) region["startColumn"] = place.column;
        json["physicalLocation"]["region"] = std::move(region);
      }
    }
    const std::string& function = place.function.empty() ? block : place.function;
    if (!function.empty()) {
      json["logicalLocations"] =
          Json::array({{{"fullyQualifiedName", printable(function)}, {"kind", "function"}}});
    } else if (place.file.empty() && !frame.empty()) {
      json["logicalLocations"] = Json::array({{{"fullyQualifiedName", printable(frame)}}});
    }
    return json;
  }

  Json location(const Step& step) const {
    return location(step.frames.empty() ? std::string() : step.frames.front(), step.block);
  }

  // A code flow tells what happened one after the other, while the steps argue in an order of their own.
  Json code_flow(const Finding& finding) const {
    // What is predicted happens in the order of its schedule, not in that of the trace.
    const bool is_scheduled = !finding.schedule.empty();
    const std::vector<Step>& shown = is_scheduled ? finding.schedule : finding.steps;
    std::vector<const Step*> steps;
    steps.reserve(shown.size());
    for (const Step& step : shown) steps.push_back(&step);
    if (!is_scheduled)
      std::sort(steps.begin(), steps.end(), [](const Step* a, const Step* b) {
        return a->event != b->event ? a->event < b->event : a < b;
      });
    return {{"message",
             message(is_scheduled ? "An order of the run's operations that shows the finding."
                                  : "The operations that make the finding, in the order they happened.")},
            {"threadFlows", thread_flows(steps, is_scheduled)}};
  }

  // What stands behind a step, in the order of its argument.
  Json chain_flow(const Chain& chain) const {
    std::vector<const Step*> steps;
    steps.reserve(chain.steps.size());
    for (const Step& step : chain.steps) steps.push_back(&step);
    return {{"message", message(sentences({printable(chain.title)}))},
            {"threadFlows", thread_flows(steps, false)}};
  }

  // The steps by thread, numbered in the order given.
  Json thread_flows(const std::vector<const Step*>& steps, bool is_scheduled) const {
    Json flows = Json::array();
    std::vector<std::string_view> threads;  // of `flows`
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = *steps[i];
      const auto known = std::find(threads.begin(), threads.end(), step.thread);
      const auto index = static_cast<std::size_t>(known - threads.begin());
      if (known == threads.end()) {
        threads.push_back(step.thread);
        flows.push_back({{"id", printable(step.thread)}, {"locations", Json::array()}});
      }
      Json place = location(step);
      place["message"] = message(step_text(step));
      flows[index]["locations"].push_back(
          {{"location", std::move(place)},
           {"executionOrder", i + 1},
           {"importance", is_scheduled && step.because.empty() ? "important" : "essential"}});
    }
    return flows;
  }

  // The call stacks that say more than the locations do.
  Json stacks_of(const Finding& finding) const {
    Json stacks = Json::array();
    for (const Step& step : finding.steps) {
      if (step.frames.size() < 2) continue;
      Json frames = Json::array();
      for (const std::string& frame : step.frames) frames.push_back({{"location", location(frame, {})}});
      Json stack = {{"message", message(step_text(step))}, {"frames", std::move(frames)}};
      if (std::find(stacks.begin(), stacks.end(), stack) == stacks.end()) stacks.push_back(std::move(stack));
    }
    return stacks;
  }

  const RunReport& report_;
  const SarifOptions& options_;
};

}  // namespace

std::string sarif_report(const RunReport& report, const SarifOptions& options) {
  return SarifWriter(report, options).log().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heddle
