#include "report/run_report.h"

namespace heddle {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kClean: return "clean";
    case Verdict::kViolations: return "violations";
    case Verdict::kUndecided: return "undecided";
  }
  return {};
}

}  // namespace heddle
