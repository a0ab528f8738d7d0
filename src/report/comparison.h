// What has changed between two runs: findings are the same when their fingerprints are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/run_report.h"

namespace heddle {

enum class Change : uint8_t {
  kNew,        // not in the earlier report
  kKnown,      // in both
  kFixed,      // only in the earlier one, though its checker has looked at its input again
  kUnchecked,  // only in the earlier one; its checker did not run or is undecided, or its input was not
               // checked
};
std::string_view to_string(Change change);

struct Comparison {
  std::vector<Change> findings;      // of the report, kNew or kKnown, in its order
  std::vector<const Finding*> gone;  // of the earlier report, in its order
  std::vector<Change> gone_as;       // kFixed or kUnchecked, the same order
  std::vector<std::string> caveats;  // what makes the comparison less than certain, a sentence each
};

// Suppressed findings are there all the same: they are neither new nor fixed. A report that is not whole may
// lack findings that it had when it was written.
Comparison compare(const RunReport& report, const RunReport& earlier, bool is_whole = true,
                   bool earlier_is_whole = true);

}  // namespace heddle
