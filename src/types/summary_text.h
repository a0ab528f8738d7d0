// Summaries as text: what the plug-in puts into the section heddle_summaries of every object file, one text
// per file that was compiled, each ended by a 0. docs/design/types.md describes the lines.
#pragma once

#include <string>
#include <string_view>

#include "types/program.h"

namespace heddle::types {

inline constexpr std::string_view kSummaryVersion = "heddle-summary 5";

// Adds what the texts say to the program. A function that several files have, as inline ones, is taken once.
// Throws InputError that names `file` and the line that is wrong.
void read_summaries(std::string_view texts, const std::string& file, Program& program);

// One text for the whole program; reading it gives the same program.
std::string summary_text(const Program& program);

}  // namespace heddle::types
