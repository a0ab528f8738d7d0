// Checking trace files: every checker over every file, merged into one report.
#pragma once

#include <string>
#include <vector>

#include "core/checker.h"
#include "report/run_report.h"

namespace heddle {

// Runs the checkers over each file ("-" is standard input) on its own and fills in everything of the report
// but suppressions and limit. The same defect in several files is one finding, named for the first. Throws
// InputError.
// `wants_spans`: Finding::spans, too, for which a trace with findings is read once more.
RunReport check_traces(const std::vector<std::string>& paths,
                       const std::vector<const CheckerEntry*>& checkers, const CheckerOptions& options,
                       std::size_t kept_per_checker, bool wants_spans = false);

}  // namespace heddle
