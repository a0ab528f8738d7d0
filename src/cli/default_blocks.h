// What to say of findings about functions of which nobody but Heddle has said that they are atomic.
#pragma once

#include <string>

#include "report/run_report.h"

namespace heddle {

// One notice for all functions of the program that are blamed and are blocks by default; none: none is.
void add_notice_of_defaults(RunReport& report, const std::string& program);

}  // namespace heddle
