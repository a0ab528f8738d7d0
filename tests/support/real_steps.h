// A finding speaks of operations that are in the trace: for laws.
#pragma once

#include <rapidcheck.h>

#include <string>

#include "core/finding.h"
#include "support/read_events.h"

namespace heddle::test {

inline void expect_real_steps(const std::string& trace, const Finding& finding) {
  const std::vector<Event> events = read_events(trace);
  TextReader reader("trace", trace);  // for the names
  while (!reader.next().empty()) {
  }
  for (const Step& step : finding.steps) {
    RC_ASSERT(step.event < events.size());
    const Event& event = events[step.event];
    RC_ASSERT(step.thread == reader.names().thread(event.thread));
    RC_ASSERT(step.operation == operation_text(event, reader.names()));
  }
}

}  // namespace heddle::test
