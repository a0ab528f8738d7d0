// The report for programs. docs/findings.schema.json describes it.
#pragma once

#include <string>

#include "report/run_report.h"

namespace heddle {

// One JSON document, indented, with a line feed at the end. Always valid UTF-8, whatever names the trace
// holds.
std::string json_report(const RunReport& report);

}  // namespace heddle
