// A finding as JSON, for the reports that programs read and for the page of the HTML report.
// docs/findings.schema.json describes it.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "core/finding.h"

namespace heddle {

nlohmann::ordered_json steps_json(const std::vector<Step>& steps);
nlohmann::ordered_json finding_json(const Finding& finding);
nlohmann::ordered_json steps_json(const std::vector<Step>& steps);

}  // namespace heddle
