// All events of a text trace at once, for oracles.
#pragma once

#include <string>
#include <vector>

#include "trace/text_reader.h"

namespace heddle::test {

inline std::vector<Event> read_events(const std::string& trace) {
  TextReader reader("trace", trace);
  std::vector<Event> events;
  for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next())
    events.insert(events.end(), batch.events.begin(), batch.events.end());
  return events;
}

}  // namespace heddle::test
