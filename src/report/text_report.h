// The report for people: each finding argues its case step by step, then one paragraph says what was checked.
#pragma once

#include <cstddef>
#include <string>

#include "report/run_report.h"

namespace heddle {

enum class ColourChoice : uint8_t { kAuto, kAlways, kNever };

struct TextStyle {
  std::size_t width = 100;  // columns; longer lines are wrapped where they can be
  bool colour = false;      // ANSI escape sequences
};

// The style for writing to `descriptor`. kAuto means colour on a terminal, unless NO_COLOR is set or TERM is
// "dumb"; the width is the terminal's, or 100 when it is none.
TextStyle text_style(ColourChoice choice, int descriptor);

std::string text_report(const RunReport& report, const TextStyle& style = {});
// The paragraph at its end alone.
std::string summary_text(const RunReport& report, const TextStyle& style = {});

}  // namespace heddle
