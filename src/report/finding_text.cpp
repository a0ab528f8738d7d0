#include "report/finding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "report/layout.h"
#include "report/location.h"

namespace heddle {

namespace {

constexpr std::size_t kIndent = 2;           // of everything below a headline
constexpr std::size_t kContinued = 6;        // of what does not fit on a step's line
constexpr std::size_t kWidestColumn = 44;    // longer cells stick out instead of pushing the others away
constexpr std::size_t kMostCallers = 12;     // shown per step
constexpr std::size_t kMostStepsShown = 40;  // steps of a schedule shown
constexpr std::size_t kMostChains = 8;       // shown

const fmt::text_style kPlain;
const fmt::text_style kQuiet = fmt::emphasis::faint;

fmt::text_style strength_style(Strength strength) {
  switch (strength) {
    case Strength::kObserved: return fmt::emphasis::bold | fmt::fg(fmt::terminal_color::red);
    case Strength::kPredicted: return fmt::emphasis::bold | fmt::fg(fmt::terminal_color::yellow);
    case Strength::kPotential: return fmt::emphasis::bold | fmt::fg(fmt::terminal_color::cyan);
  }
  return {};
}

// Each thread of a finding has its colour, so that the eye can follow one.
fmt::text_style thread_style(const Finding& finding, const std::string& thread) {
  constexpr std::array<fmt::terminal_color, 4> kColours = {
      fmt::terminal_color::cyan, fmt::terminal_color::magenta, fmt::terminal_color::green,
      fmt::terminal_color::blue};
  const auto at = std::find(finding.threads.begin(), finding.threads.end(), thread) - finding.threads.begin();
  return fmt::emphasis::bold | fmt::fg(kColours[static_cast<std::size_t>(at) % kColours.size()]);
}

struct Cell {
  std::string text;
  fmt::text_style style;
};

// thread, what it did, where, in which function or block, with which locks.
enum Column : std::size_t { kThread, kPhrase, kPlace, kFunction, kHeld, kColumns };
using Row = std::array<Cell, kColumns>;
using Columns = std::array<std::size_t, kColumns>;  // where each begins

Row make_row(const Finding& finding, const Step& step) {
  const Location location = step.frames.empty() ? Location() : parse_location(step.frames.front());
  const std::string& function = step.block.empty() ? location.function : step.block;
  Row row;
  row[kThread] = {printable(step.thread), thread_style(finding, step.thread)};
  row[kPhrase] = {printable(step.phrase), kPlain};
  row[kPlace] = {place_text(location), kPlain};
  row[kFunction] = {function.empty() ? "" : "in " + printable(function), kPlain};
  row[kHeld] = {printable(step.held), kPlain};
  return row;
}

class FindingWriter {
 public:
  FindingWriter(const Finding& finding, const TextStyle& style) : finding_(finding), style_(style) {}

  std::string write(bool name_input) {
    write_headline();
    write_steps(finding_.steps);
    write_paragraph("", kPlain, finding_.conclusion);
    write_chains();
    write_schedule();
    write_paragraph("fix: ", fmt::emphasis::bold | fmt::fg(fmt::terminal_color::green), finding_.advice);
    write_origin(name_input);
    return std::move(out_);
  }

 private:
  std::size_t room(std::size_t used) const { return style_.width > used ? style_.width - used : 1; }

  void new_line(std::size_t indent) {
    out_ += '\n';
    out_.append(indent, ' ');
  }

  void write_headline() {
    const std::string title = std::string(finding_.rule->title) + ":";
    const std::string tag = fmt::format("{} {}", finding_.rule->id, to_string(finding_.strength));
    const std::size_t start = display_width(title) + 1;
    const std::vector<std::string> lines = wrap(printable(finding_.message), room(start), room(kContinued));

    out_ += paint(style_, strength_style(finding_.strength), title);
    std::size_t used = display_width(title);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i == 0) {
        out_ += ' ';
      } else {
        new_line(kContinued);
      }
      out_ += paint(style_, fmt::emphasis::bold, lines[i]);
      used = (i == 0 ? start : kContinued) + display_width(lines[i]);
    }
    if (used + 2 + tag.size() > style_.width) {
      out_ += '\n';
      used = 0;
    }
    out_.append(room(used + tag.size() - 1) - 1, ' ');
    out_ += paint(style_, kQuiet, tag);
    out_ += '\n';
  }

  // Without callers, which the steps have. What many chains show in the end is the same, so a few are enough.
  void write_chains() {
    for (std::size_t i = 0; i < finding_.chains.size() && i < kMostChains; ++i) {
      std::string title = finding_.chains[i].title + ":";
      title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
      write_paragraph("", kPlain, title);
      std::vector<Step> steps = finding_.chains[i].steps;
      for (Step& step : steps)
        if (step.frames.size() > 1) step.frames.resize(1);
      write_steps(steps);
    }
    if (finding_.chains.size() > kMostChains)
      write_paragraph(
          "", kPlain,
          fmt::format("({} more in --format json)", grouped(finding_.chains.size() - kMostChains)));
  }

  // The whole order of operations, without callers and reasons, which stand above; a long one without its
  // middle.
  void write_schedule() {
    if (finding_.schedule.empty()) return;
    write_paragraph("", kPlain, "The order that shows it:");
    std::vector<Step> steps = finding_.schedule;
    for (Step& step : steps) {
      if (step.frames.size() > 1) step.frames.resize(1);
      step.because.clear();
    }
    if (steps.size() <= kMostStepsShown) return write_steps(steps);
    const std::size_t left_out = steps.size() - kMostStepsShown;
    const auto middle = steps.begin() + kMostStepsShown / 2;
    steps.erase(middle, middle + static_cast<std::ptrdiff_t>(left_out));
    steps[kMostStepsShown / 2].because = fmt::format("{} before it left out", counted(left_out, "step"));
    write_steps(steps);
  }

  void write_steps(const std::vector<Step>& steps) {
    std::vector<Row> rows;
    rows.reserve(steps.size());
    for (const Step& step : steps) rows.push_back(make_row(finding_, step));
    Columns columns{};
    std::size_t at = kIndent;
    for (std::size_t c = 0; c < kColumns; ++c) {
      columns[c] = at;
      std::size_t widest = 0;
      for (const Row& row : rows) {
        const std::size_t width = display_width(row[c].text);
        if (width <= kWidestColumn) widest = std::max(widest, width);
      }
      if (widest > 0) at += widest + gap_after(c);
    }
    // Reasons stand beside the steps if all of them fit there, else each below its step.
    const auto fits_beside = [&](const Step& step) {
      return step.because.empty() ||
             (at + display_width(because_text(step)) <= style_.width && step.frames.size() < 2);
    };
    const bool beside = std::all_of(steps.begin(), steps.end(), fits_beside);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Step& step = steps[i];
      const auto [used, continued] = write_row(rows[i], columns);
      if (beside && !step.because.empty()) {
        out_.append(std::max(at, used + 2) - used, ' ');
        out_ += paint(style_, kQuiet, because_text(step));
      }
      write_callers(step, continued ? kContinued : columns[kPlace]);
      if (!beside) write_because_below(step);
      out_ += '\n';
    }
  }

  static std::size_t gap_after(std::size_t column) { return column == kThread ? 1 : 2; }

  static std::string because_text(const Step& step) { return "… " + printable(step.because); }

  struct RowEnd {
    std::size_t used;  // columns of the row's last line
    bool continued;    // the row took more than one line
  };

  // Puts the cells into their columns; those that do not fit go on to further lines, side by side.
  RowEnd write_row(const Row& row, const Columns& columns) {
    std::size_t used = 0;
    bool continued = false;
    for (std::size_t c = 0; c < kColumns; ++c) {
      if (row[c].text.empty()) continue;
      const std::size_t width = display_width(row[c].text);
      const std::size_t after = used == 0 ? 0 : used + gap_after(c - 1);
      std::size_t start = continued ? after : std::max(columns[c], after);
      if (used > 0 && start + width > style_.width) {
        out_ += '\n';
        used = 0;
        continued = true;
        start = kContinued;
      }
      out_.append(start - used, ' ');
      out_ += paint(style_, row[c].style, row[c].text);
      used = start + width;
    }
    return {used, continued};
  }

  void write_because_below(const Step& step) {
    if (step.because.empty()) return;
    bool first = true;
    for (const std::string& line : wrap(because_text(step), room(kContinued), room(kContinued + 2))) {
      new_line(first ? kContinued : kContinued + 2);
      out_ += paint(style_, kQuiet, line);
      first = false;
    }
  }

  void write_callers(const Step& step, std::size_t column) {
    std::vector<std::string> lines;
    for (std::size_t i = 1; i < step.frames.size() && i <= kMostCallers; ++i) {
      const Location caller = parse_location(step.frames[i]);
      std::string line = fmt::format("called from {}", place_text(caller));
      if (!caller.function.empty()) line += " in " + printable(caller.function);
      lines.push_back(std::move(line));
    }
    if (step.frames.size() > kMostCallers + 1)
      lines.push_back(fmt::format("and {} more", counted(step.frames.size() - kMostCallers - 1, "caller")));
    const bool fit = std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return column + display_width(line) <= style_.width;
    });
    for (const std::string& line : lines) {
      new_line(fit ? column : kContinued);
      out_ += line;
    }
  }

  void write_paragraph(std::string_view label, const fmt::text_style& how, const std::string& text) {
    const std::size_t hanging = kIndent + label.size();
    bool first = true;
    for (const std::string& line : wrap(printable(text), room(hanging), room(hanging))) {
      out_ += std::string(first ? kIndent : hanging, ' ') + (first ? paint(style_, how, label) : "") + line +
              '\n';
      first = false;
    }
  }

  void write_origin(bool name_input) {
    const bool often = finding_.count > 1;
    const bool named = name_input && !finding_.input.empty();
    if (!often && !named) return;
    std::string text = often ? fmt::format("seen {}", grouped(finding_.count, "time")) : "found";
    if (named) text += fmt::format("{} in {}", often ? ", first" : "", printable(finding_.input));
    out_.append(kIndent, ' ');
    out_ += paint(style_, kQuiet, text);
    out_ += '\n';
  }

  const Finding& finding_;
  const TextStyle& style_;
  std::string out_;
};

}  // namespace

std::string paint(const TextStyle& style, const fmt::text_style& how, std::string_view text) {
  if (!style.colour || text.empty()) return std::string(text);
  return fmt::format(how, "{}", text);
}

std::string finding_text(const Finding& finding, bool name_input, const TextStyle& style) {
  return FindingWriter(finding, style).write(name_input);
}

}  // namespace heddle
