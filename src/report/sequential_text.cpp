#include "report/sequential_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/finding_text.h"
#include "report/layout.h"
#include "report/location.h"

namespace heddle {

namespace {

constexpr std::size_t kMostTasks = 40;    // of a serial order
constexpr std::size_t kMostSkipped = 10;  // places of if (true*) left out
const fmt::text_style kQuiet = fmt::emphasis::faint;

using Row = std::vector<std::string>;

std::string table(const std::vector<Row>& rows, const TextStyle& style) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  std::string out;
  for (const Row& row : rows) {
    out += "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - display_width(row[i]), ' ');
      const std::string cell = &row == &rows.front() ? paint(style, kQuiet, row[i]) : row[i];
      // Names to the left, numbers to the right.
      out += i == 0 ? fmt::format("{}{}", cell, gap) : fmt::format("  {}{}", gap, cell);
    }
    out += '\n';
  }
  return out;
}

// "i=2, i=1 (i=1.a, i=1.b), i=3": tasks inside a task in parentheses.
std::string order_text(const SequentialRun& run) {
  std::string text;
  uint32_t depth = 1;
  std::size_t shown = 0;
  for (const SequentialRun::Place& place : run.order) {
    if (shown == kMostTasks) break;
    if (place.depth > depth) {
      text += " (";
    } else {
      text.append(depth - place.depth, ')');
      if (shown > 0) text += ", ";
    }
    depth = place.depth;
    text += printable(place.task);
    ++shown;
  }
  text.append(depth - 1, ')');
  const uint64_t left_out = run.order.size() - shown + run.order_left_out;
  if (left_out > 0) text += fmt::format(" and {} more", grouped(left_out));
  return text;
}

// Bodies left out, counted by where they are.
std::string skipped_text(const SequentialRun& run) {
  std::vector<std::pair<std::string, std::vector<std::string>>> places;  // with the tasks
  for (const Step& step : run.skipped) {
    const std::string place = step.frames.empty()
                                  ? "an if (true*)"
                                  : "the if (true*) at " + place_text(parse_location(step.frames.front()));
    auto known =
        std::find_if(places.begin(), places.end(), [&](const auto& entry) { return entry.first == place; });
    if (known == places.end()) known = places.insert(places.end(), {place, {}});
    known->second.push_back(printable(step.block));
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < places.size() && i < kMostSkipped; ++i) {
    std::vector<std::string> tasks = places[i].second;
    tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
    const std::string times = places[i].second.size() > tasks.size() || tasks.size() > 3
                                  ? fmt::format(", {}", grouped(places[i].second.size(), "time"))
                                  : "";
    if (tasks.size() > 3) {
      parts.push_back(fmt::format("{}{}", places[i].first, times));
    } else {
      parts.push_back(fmt::format("{} in {}{}", places[i].first, join_with_and(tasks), times));
    }
  }
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (places.size() > kMostSkipped)
    text += fmt::format("; and {} more places", grouped(places.size() - kMostSkipped));
  if (run.skipped_left_out > 0) text += fmt::format("; and {} more", grouped(run.skipped_left_out));
  return text;
}

void write_paragraph(const std::string& label, const std::string& text, const TextStyle& style,
                     std::string& out) {
  const std::string begin = "  " + label;
  const std::size_t room = style.width > begin.size() + 20 ? style.width - begin.size() : 20;
  bool first = true;
  for (const std::string& line : wrap(text, room, room)) {
    out += (first ? "  " + paint(style, kQuiet, label) : std::string(begin.size(), ' ')) + line + '\n';
    first = false;
  }
}

}  // namespace

std::string sequential_text(const RunReport& report, const TextStyle& style) {
  if (report.sequential_runs.empty()) return {};
  std::vector<Row> rows{{"trace", "tasks", "events", "irrelevant", "conflict warnings", "ndseq warnings"}};
  for (const SequentialRun& run : report.sequential_runs) {
    // None is none; of some there may be more.
    const auto warnings = [&](uint64_t count) {
      return grouped(count) + (run.counted_all || count == 0 ? "" : "+");
    };
    rows.push_back({printable(run.input), grouped(run.tasks), grouped(run.events),
                    grouped(run.irrelevant_events), warnings(run.conflict_warnings), warnings(run.warnings)});
  }
  std::string out = table(rows, style);
  for (const SequentialRun& run : report.sequential_runs) {
    if (!run.is_found) continue;
    const std::string certainty = run.is_certain ? "" : "if the order is as recorded, ";
    const std::string which =
        certainty + (report.sequential_runs.size() == 1 ? "equal to this sequential run  "
                                                        : printable(run.input) + " equals  ");
    write_paragraph(which, order_text(run), style, out);
    if (!run.skipped.empty()) write_paragraph("  leaving out  ", skipped_text(run), style, out);
  }
  return out;
}

}  // namespace heddle
