#include "report/text_report.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "report/finding_text.h"
#include "report/layout.h"
#include "report/sequential_text.h"

namespace heddle {

namespace {

constexpr std::size_t kMostRows = 10;  // of inputs or suppressions listed one by one
const fmt::text_style kQuiet = fmt::emphasis::faint;

// What the summary says next to a label: lines of aligned cells.
struct Section {
  std::string label;
  std::vector<std::vector<std::string>> rows;
};

// How many findings each rule has, rules in order of first appearance.
std::vector<std::pair<const Rule*, std::size_t>> count_by_rule(const std::vector<Finding>& findings) {
  std::vector<std::pair<const Rule*, std::size_t>> counts;
  for (const Finding& finding : findings) {
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& count) { return count.first->id == finding.rule->id; });
    if (known == counts.end()) {
      counts.emplace_back(finding.rule, 1);
    } else {
      ++known->second;
    }
  }
  return counts;
}

// "1,234 events of 3 inputs", "1,234 events of bank.std".
std::string extent(const std::vector<InputSummary>& inputs) {
  uint64_t events = 0;
  for (const InputSummary& input : inputs) events += input.events;
  const std::string of = inputs.size() == 1 ? printable(inputs[0].path) : grouped(inputs.size(), "input");
  return fmt::format("{} of {}", grouped(events, "event"), of);
}

// "race and deadlock clean": what the checkers that found nothing to show have to say, a clause per verdict.
std::vector<std::string> silent_verdicts(const std::vector<CheckerSummary>& checkers) {
  constexpr std::pair<Verdict, std::string_view> kWords[] = {
      {Verdict::kClean, "clean"},
      {Verdict::kUndecided, "undecided"},
      {Verdict::kNotApplicable, "not applicable"},
      {Verdict::kViolations, "with suppressed findings only"},
  };
  std::vector<std::string> clauses;
  for (const auto& [verdict, word] : kWords) {
    std::vector<std::string> names;
    for (const CheckerSummary& checker : checkers)
      if (checker.verdict == verdict) names.push_back(checker.name);
    if (!names.empty()) clauses.push_back(fmt::format("{} {}", join_with_and(names), word));
  }
  if (clauses.empty()) clauses.emplace_back("no checker ran");
  return clauses;
}

std::string headline(const RunReport& report) {
  const bool none = report.findings.empty();
  std::string text = none ? "no findings" : grouped(report.findings.size(), "finding");
  if (!report.suppressed.empty()) text += fmt::format(", {} suppressed", grouped(report.suppressed.size()));
  if (report.left_out > 0) text += fmt::format(", {} more not shown", grouped(report.left_out));
  if (report.left_out_occurrences > 0)
    text += fmt::format(", {} of further ones not kept", grouped(report.left_out_occurrences, "occurrence"));
  if (none) {
    const std::vector<std::string> verdicts = silent_verdicts(report.checkers);
    if (verdicts.size() == 1) return fmt::format("{}: {} on {}", text, verdicts[0], extent(report.inputs));
    return fmt::format("{}, on {}: {}", text, extent(report.inputs), fmt::join(verdicts, "; "));
  }
  const auto counts = count_by_rule(report.findings);
  if (counts.size() == 1) text += fmt::format(": {} ({})", counts[0].first->name, counts[0].first->id);
  return text;
}

// Right-aligned numbers, so that their sizes show.
void align_right(Section& section, std::size_t column) {
  std::size_t widest = 0;
  for (const auto& row : section.rows) widest = std::max(widest, row[column].size());
  for (auto& row : section.rows) row[column].insert(0, widest - row[column].size(), ' ');
}

Section rules_section(const RunReport& report) {
  Section section{"rules", {}};
  const auto counts = count_by_rule(report.findings);
  if (counts.size() < 2) return section;  // the headline has told
  for (const auto& [rule, count] : counts)
    section.rows.push_back({fmt::format("{} {}", rule->id, rule->name), grouped(count), ""});
  align_right(section, 1);
  return section;
}

Section inputs_section(const RunReport& report) {
  Section section{"inputs", {}};
  const bool none = report.findings.empty();  // then the headline has told the number of events
  std::size_t skipped = 0;
  for (const InputSummary& input : report.inputs) {
    const bool told = !input.note.empty() || (!none && section.rows.size() < kMostRows);
    if (told) {
      section.rows.push_back({printable(input.path), grouped(input.events, "event"), printable(input.note)});
    } else {
      ++skipped;
    }
  }
  align_right(section, 1);
  if (!none && skipped > 0) section.rows.push_back({fmt::format("and {} more", grouped(skipped)), "", ""});
  return section;
}

Section checkers_section(const RunReport& report) {
  Section section{"checkers", {}};
  for (const CheckerSummary& checker : report.checkers)
    if (!report.findings.empty() || !checker.note.empty())
      section.rows.push_back(
          {checker.name, std::string(to_string(checker.verdict)), printable(checker.note)});
  return section;
}

// Which suppression took out how many findings, and why.
Section suppressed_section(const RunReport& report) {
  std::vector<std::pair<const SuppressedFinding*, std::size_t>> counts;
  std::unordered_map<std::string_view, std::size_t> known;  // by place of the suppression: index into counts
  for (const SuppressedFinding& suppressed : report.suppressed) {
    const auto [at, is_new] = known.emplace(suppressed.where, counts.size());
    if (is_new) counts.emplace_back(&suppressed, 0);
    ++counts[at->second].second;
  }
  Section section{"suppressed", {}};
  for (const auto& [first, count] : counts) {
    if (section.rows.size() == kMostRows) {
      section.rows.push_back({fmt::format("by {} more", grouped(counts.size() - kMostRows)), "", ""});
      break;
    }
    section.rows.push_back({printable(first->where), grouped(count, "finding"), printable(first->reason)});
  }
  return section;
}

Section notices_section(const RunReport& report) {
  Section section{"notices", {}};
  for (const std::string& notice : report.notices) section.rows.push_back({"", "", printable(notice)});
  return section;
}

// Cells in columns; the last one is wrapped.
void write_section(const Section& section, const TextStyle& style, std::string& out) {
  constexpr std::size_t kLabel = 14;  // column where the cells begin
  const auto widest = [&](std::size_t column) {
    std::size_t width = 0;
    for (const auto& row : section.rows) width = std::max(width, display_width(row[column]));
    return width == 0 ? 0 : width + 2;
  };
  const std::size_t second = kLabel + widest(0);
  const std::size_t third = second + widest(1);
  const auto pad = [&](std::size_t from, std::size_t to) { out.append(to > from ? to - from : 0, ' '); };
  for (std::size_t i = 0; i < section.rows.size(); ++i) {
    const std::vector<std::string>& row = section.rows[i];
    const std::string label = i == 0 ? section.label : "";
    out += "  " + paint(style, kQuiet, label);
    pad(2 + label.size(), kLabel);
    out += row[0];
    if (!row[1].empty()) {
      pad(kLabel + display_width(row[0]), second);
      out += row[1];
    }
    const std::size_t room = style.width > third + 20 ? style.width - third : 20;
    bool first = true;
    for (const std::string& line : wrap(row[2], room, room)) {
      if (first) {
        pad(row[1].empty() ? kLabel + display_width(row[0]) : second + display_width(row[1]), third);
      } else {
        out += '\n' + std::string(third, ' ');
      }
      out += line;
      first = false;
    }
    out += '\n';
  }
}

}  // namespace

TextStyle text_style(ColourChoice choice, int descriptor) {
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kWidest = 140;
  TextStyle style;
  winsize window{};
  const bool terminal = ::isatty(descriptor) == 1;
  if (terminal && ::ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
    style.width = std::clamp<std::size_t>(window.ws_col, kNarrowest, kWidest);
  const auto variable = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  switch (choice) {
    case ColourChoice::kAlways: style.colour = true; break;
    case ColourChoice::kNever: style.colour = false; break;
    case ColourChoice::kAuto:
      style.colour = terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
      break;
  }
  return style;
}

std::string text_report(const RunReport& report, const TextStyle& style) {
  std::string out;
  for (const Finding& finding : report.findings)
    out += finding_text(finding, report.inputs.size() > 1, style) + "\n";
  return out + summary_text(report, style);
}

std::string summary_text(const RunReport& report, const TextStyle& style) {
  std::string out;
  const std::vector<std::string> lines = wrap(headline(report), style.width, style.width - 2);
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (i == 0 ? "" : "  ") + paint(style, fmt::emphasis::bold, lines[i]) + "\n";
  for (const Section& section : {rules_section(report), inputs_section(report), checkers_section(report),
                                 suppressed_section(report), notices_section(report)})
    write_section(section, style, out);
  out += sequential_text(report, style);
  if (!report.findings.empty())
    out += fmt::format("  heddle explain {} tells more\n", report.findings.front().rule->id);
  return out;
}

}  // namespace heddle
