#include "report/run_report.h"

#include <algorithm>

namespace heddle {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kClean: return "clean";
    case Verdict::kViolations: return "violations";
    case Verdict::kUndecided: return "undecided";
    case Verdict::kNotApplicable: return "not applicable";
  }
  return {};
}

EventIndex certain_at(const Finding& finding) {
  EventIndex event = finding.certain_at;
  if (event == 0)
    for (const Step& step : finding.steps) event = std::max(event, step.event);
  return event;
}

}  // namespace heddle
