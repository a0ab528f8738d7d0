// The part of a text report about sequential runs: a table that sets the two verdicts on each input side by
// side (S3, Table 1), and the runs found.
#pragma once

#include <string>

#include "report/run_report.h"
#include "report/text_report.h"

namespace heddle {

// Empty when ndseq had nothing to say.
std::string sequential_text(const RunReport& report, const TextStyle& style);

}  // namespace heddle
