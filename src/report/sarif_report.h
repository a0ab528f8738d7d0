// The report for code scanning services and editors: SARIF 2.1.0 (OASIS standard of 27 March 2020).
//
// Levels follow the strength of a finding: observed is an error, predicted a warning, potential a note.
#pragma once

#include <string>

#include "report/run_report.h"

namespace heddle {

struct SarifOptions {
  // Absolute path of the source tree. Files below it are named relative to it, under the base SRCROOT;
  // relative file names are taken as being below it already. Empty: absolute names stay absolute.
  std::string source_root;
};

// One SARIF log with one run. Always valid UTF-8.
std::string sarif_report(const RunReport& report, const SarifOptions& options = {});

}  // namespace heddle
