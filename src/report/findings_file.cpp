#include "report/findings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "report/json_elements.h"
#include "report/json_report.h"
#include "report/layout.h"

namespace heddle {

namespace {

using ParsedJson = nlohmann::json;

// The fields of one object of the file, with its place for messages.
class Fields {
 public:
  Fields(const ParsedJson& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) throw InputError(fmt::format("{} is no object", place_));
  }

  std::string text(const char* name) const { return required(name, &ParsedJson::is_string, "a text"); }
  uint64_t number(const char* name) const {
    return required(name, &ParsedJson::is_number_unsigned, "a whole number");
  }
  bool flag(const char* name) const { return required(name, &ParsedJson::is_boolean, "true or false"); }
  std::optional<uint64_t> optional_number(const char* name) const {
    return has(name) ? std::optional(number(name)) : std::nullopt;
  }
  std::string optional_text(const char* name) const { return has(name) ? text(name) : std::string(); }
  bool has(const char* name) const { return json_.contains(name); }

  Fields object(const char* name) const {
    return {required(name, &ParsedJson::is_object, "an object"), fmt::format("{}.{}", place_, name)};
  }
  // Calls `use(Fields)` for every object of an array; one that may be missing counts as empty.
  template <class Use>
  void each(const char* name, Use use, bool may_be_missing = false) const {
    if (may_be_missing && !has(name)) return;
    const ParsedJson& list = required(name, &ParsedJson::is_array, "an array");
    for (std::size_t i = 0; i < list.size(); ++i)
      use(Fields(list[i], fmt::format("{}.{}[{}]", place_, name, i)));
  }
  std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> result;
    for (const ParsedJson& item : required(name, &ParsedJson::is_array, "an array")) {
      if (!item.is_string()) throw InputError(fmt::format("{}.{} holds more than texts", place_, name));
      result.push_back(item.get<std::string>());
    }
    return result;
  }

  // The value of an enumeration whose to_string() is `name`'s text.
  template <class Enum, std::size_t N>
  Enum choice(const char* name, const Enum (&values)[N]) const {
    const std::string word = text(name);
    const auto value = std::find_if(std::begin(values), std::end(values),
                                    [&](Enum candidate) { return to_string(candidate) == word; });
    if (value == std::end(values))
      throw InputError(
          fmt::format("{}.{} is '{}', which this Heddle does not know", place_, name, shortened(word)));
    return *value;
  }

 private:
  const ParsedJson& required(const char* name, bool (ParsedJson::*is_right)() const noexcept,
                             std::string_view what) const {
    const auto field = json_.find(name);
    if (field == json_.end()) throw InputError(fmt::format("{} has no '{}'", place_, name));
    if (!((*field).*is_right)()) throw InputError(fmt::format("{}.{} is not {}", place_, name, what));
    return *field;
  }

  const ParsedJson& json_;
  std::string place_;  // "findings[3].steps[0]"
};

constexpr Strength kStrengths[] = {Strength::kObserved, Strength::kPredicted, Strength::kPotential};
constexpr Verdict kVerdicts[] = {Verdict::kClean, Verdict::kViolations, Verdict::kUndecided,
                                 Verdict::kNotApplicable};
constexpr Span::Kind kSpanKinds[] = {Span::Kind::kBlock, Span::Kind::kTask, Span::Kind::kLock,
                                     Span::Kind::kSharedLock};

Step read_step(const Fields& fields) {
  Step step;
  step.event = fields.number("event");
  step.thread = fields.text("thread");
  step.operation = fields.text("operation");
  step.phrase = fields.text("phrase");
  step.because = fields.text("because");
  step.block = fields.text("block");
  step.block_is_known = true;
  step.held = fields.text("held");
  step.transaction = fields.optional_number("transaction");
  fields.each("frames", [&](const Fields& frame) { step.frames.push_back(frame.text("text")); });
  return step;
}

std::vector<Step> read_steps(const Fields& fields, const char* name, bool may_be_missing = false) {
  std::vector<Step> steps;
  fields.each(name, [&](const Fields& step) { steps.push_back(read_step(step)); }, may_be_missing);
  return steps;
}

Span read_span(const Fields& fields) {
  return {fields.choice("kind", kSpanKinds),
          fields.text("thread"),
          fields.text("name"),
          fields.number("from"),
          fields.number("to"),
          fields.has("open")};
}

SequentialRun read_sequential_run(const Fields& fields) {
  SequentialRun run;
  run.input = fields.text("input");
  run.tasks = fields.number("tasks");
  run.focus = fields.number("focus");
  run.events = fields.number("events");
  run.irrelevant_events = fields.number("irrelevant_events");
  run.maybes = fields.number("maybes");
  run.irrelevant_maybes = fields.number("irrelevant_maybes");
  run.conflict_warnings = fields.number("conflict_warnings");
  run.warnings = fields.number("ndseq_warnings");
  run.counted_all = fields.flag("counted_all");
  run.is_found = fields.flag("found");
  run.is_certain = !fields.has("uncertain");
  if (!run.is_found) return run;
  fields.each("order", [&](const Fields& place) {
    run.order.push_back({place.text("task"), static_cast<uint32_t>(place.number("depth"))});
  });
  run.order_left_out = fields.number("order_left_out");
  run.skipped = read_steps(fields, "skipped");
  run.skipped_left_out = fields.number("skipped_left_out");
  return run;
}

class Reader {
 public:
  explicit Reader(FindingsFile& file) : file_(file) {}

  // An element of a top-level array, as soon as it is complete; `root` is what came before. True: it was
  // read.
  bool element(const ParsedJson& root, const std::string& array, std::size_t number, const ParsedJson& json) {
    if (array != "findings" && array != "suppressed") return false;
    check_format(root);  // before fields that another format has changed are blamed
    understand([&] {
      const Fields fields(json, fmt::format("{}[{}]", array, number));
      Finding finding = read_finding(fields);
      if (array == "findings") {
        file_.report.findings.push_back(std::move(finding));
      } else {
        const Fields suppression = fields.object("suppression");
        file_.report.suppressed.push_back(
            {std::move(finding), suppression.text("reason"), suppression.text("where")});
      }
    });
    return true;
  }

  // `is_cut_off`: the file ends before the report does, and what is not there is no fault.
  void rest(const ParsedJson& root, bool is_cut_off) {
    if (root.is_object() && root.contains("runs") && !root.contains("heddle"))
      throw InputError("this is a SARIF log; make the report with --format json instead");
    if (!root.is_object() || !root.contains("heddle"))
      throw InputError(
          "this is JSON, but no report of findings, which 'heddle run' and 'heddle check' write with "
          "--format json");
    check_format(root);
    const Fields fields(root, "the report");
    RunReport& report = file_.report;
    report.version = fields.text("heddle");
    report.command = fields.optional_text("command");
    const auto list = [&](const char* name, auto read, bool may_be_missing = false) {
      fields.each(
          name, [&](const Fields& item) { understand([&] { read(item); }); }, is_cut_off || may_be_missing);
    };
    list("inputs", [&](const Fields& input) {
      report.inputs.push_back({input.text("path"), input.number("events"), input.text("note")});
    });
    list("checkers", [&](const Fields& checker) {
      report.checkers.push_back(
          {checker.text("name"), checker.choice("verdict", kVerdicts), checker.text("note")});
    });
    list("rules", [&](const Fields& rule) {
      report.rules.push_back(
          {&this->rule(rule.text("id"), rule.text("name"), rule.text("title"), rule.text("brief")), {}});
    });
    for (const char* array : {"findings", "suppressed"})
      list(array, [](const Fields&) {});  // must be there, and were read
    list(
        "sequential_runs",
        [&](const Fields& run) { report.sequential_runs.push_back(read_sequential_run(run)); }, true);
    if (is_cut_off) return;
    report.left_out = fields.number("left_out");
    report.left_out_occurrences = fields.number("left_out_occurrences");
    report.notices = fields.texts("notices");
  }

  // That the format is newer than this Heddle, a clause; empty: it is not.
  const std::string& newer() const { return newer_; }
  std::size_t not_understood() const { return not_understood_; }
  bool has_findings() const { return !file_.report.findings.empty() || !file_.report.suppressed.empty(); }

 private:
  void check_format(const ParsedJson& root) {
    const auto format = root.find("format");
    if (format == root.end() || !newer_.empty()) return;  // the first reports did not tell
    if (!format->is_number_unsigned() || *format == 0)
      throw InputError("the report.format is not a whole number from 1 on");
    if (format->get<uint64_t>() <= kFindingsFormat) return;
    const auto version = root.find("heddle");
    newer_ = fmt::format(
        "written by a newer Heddle{}, in version {} of the format; this one knows version {}",
        version != root.end() && version->is_string() ? " (" + shortened(version->get<std::string>()) + ")"
                                                      : "",
        shortened(format->dump()), kFindingsFormat);
  }

  // What a newer format has changed is passed over, and counted.
  template <class Read>
  void understand(Read read) {
    try {
      read();
    } catch (const InputError&) {
      if (newer_.empty()) throw;
      ++not_understood_;
    }
  }

  Finding read_finding(const Fields& fields) {
    Finding finding;
    finding.rule = &rule(fields.text("rule"), fields.text("name"), fields.text("title"), "");
    finding.checker = kept(fields.text("checker"));
    finding.strength = fields.choice("strength", kStrengths);
    finding.message = fields.text("message");
    finding.blocks = fields.texts("blocks");
    finding.threads = fields.texts("threads");
    finding.steps = read_steps(fields, "steps");
    finding.schedule = read_steps(fields, "schedule", true);
    fields.each(
        "delays",
        [&](const Fields& delay) {
          finding.delays.push_back({read_step(delay.object("write")), read_step(delay.object("until"))});
        },
        true);
    finding.fences = read_steps(fields, "fences", true);
    fields.each("spans", [&](const Fields& span) { finding.spans.push_back(read_span(span)); }, true);
    fields.each(
        "chains",
        [&](const Fields& chain) {
          finding.chains.push_back({chain.text("title"), read_steps(chain, "steps")});
        },
        true);
    finding.certain_at = fields.number("certain_at");
    finding.conclusion = fields.text("conclusion");
    finding.advice = fields.text("advice");
    finding.input = fields.text("input");
    finding.count = fields.number("count");
    finding.fingerprint = fields.text("fingerprint");
    return finding;
  }

  std::string_view kept(std::string text) { return *file_.texts.insert(std::move(text)).first; }

  // Findings tell all of a rule but its brief, which comes with the list of rules.
  const Rule& rule(const std::string& id, std::string name, std::string title, std::string brief) {
    const auto [known, is_new] = file_.rules.try_emplace(id);
    Rule& rule = known->second;
    if (is_new) rule = {kept(id), kept(std::move(name)), kept(std::move(title)), {}};
    if (rule.brief.empty()) rule.brief = kept(std::move(brief));
    return rule;
  }

  FindingsFile& file_;
  std::string newer_;
  std::size_t not_understood_ = 0;
};

constexpr std::string_view kWhatFindingsAre =
    "findings are what 'heddle run' and 'heddle check' write with --format json";

}  // namespace

FindingsFile FindingsFile::load(const std::string& path) {
  return parse(read_whole_file(path), input_name(path));
}

FindingsFile FindingsFile::parse(std::string_view text, const std::string& name) {
  FindingsFile file;
  Reader reader(file);
  ParsedJson root;
  std::string cut_off;  // where, a sentence; empty: it was not
  const auto newer = [&](std::string_view then) {
    return fmt::format("{}: {}: {}", name, reader.newer(), then);
  };
  const auto refuse = [&](std::string_view why) {
    return InputError(reader.newer().empty() ? fmt::format("{}: {}", name, why)
                                             : newer("use that Heddle, or check again with this one"));
  };
  try {
    parse_json(
        text,
        [&](const ParsedJson& before, const std::string& array, std::size_t number, const ParsedJson& json) {
          return reader.element(before, array, number, json);
        },
        root);
    reader.rest(root, false);
  } catch (const JsonSyntaxError& error) {
    const std::string place = fmt::format("{}:{}:{}", name, error.line, error.column);
    if (!error.is_cut_off && error.is_no_text)
      throw InputError(fmt::format(
          "{}: this byte is no part of UTF-8, and findings are written in that; write them again", place));
    if (!error.is_cut_off) throw InputError(fmt::format("{}: this is no JSON; {}", place, kWhatFindingsAre));
    cut_off = place + ": the file ends in the midst of the report: it was cut off";
    if (!reader.has_findings())
      throw InputError(fmt::format("{} before the end of its first finding; {}", cut_off, kWhatFindingsAre));
  } catch (const InputError& error) {
    throw refuse(error.what());
  }
  if (!cut_off.empty()) {
    try {
      reader.rest(root, true);
    } catch (const InputError& error) {
      throw refuse(error.what());
    }
    file.incomplete = cut_off + "; what comes before that is shown, and findings may be missing";
  } else if (!reader.newer().empty()) {
    if (reader.not_understood() > 0 && !reader.has_findings()) throw refuse({});
    file.incomplete = newer("what it understands is shown, and may be wrong");
    if (reader.not_understood() > 0)
      file.incomplete +=
          fmt::format("; {} {} left out that this one does not understand", grouped(reader.not_understood()),
                      reader.not_understood() == 1 ? "entry is" : "entries are");
  }
  return file;
}

}  // namespace heddle
