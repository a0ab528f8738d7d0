// The report for programs. docs/findings.schema.json describes it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/run_report.h"

namespace heddle {

// The version of the format. A reader can read what has the same; fields that are only added do not change
// it.
inline constexpr uint64_t kFindingsFormat = 1;

nlohmann::ordered_json report_json(const RunReport& report);

// One JSON document, indented, with a line feed at the end. Always valid UTF-8, whatever names the trace
// holds.
std::string json_report(const RunReport& report);

}  // namespace heddle
