// One finding as the text report shows it.
#pragma once

#include <fmt/color.h>

#include <string>
#include <string_view>

#include "report/text_report.h"

namespace heddle {

// `text` in a style, if the report has colours.
std::string paint(const TextStyle& style, const fmt::text_style& how, std::string_view text);

// The headline, the steps in aligned columns, the conclusion and the advice; lines end with a line feed each.
// `name_input` says whether the trace it was found in needs telling.
std::string finding_text(const Finding& finding, bool name_input, const TextStyle& style);

}  // namespace heddle
