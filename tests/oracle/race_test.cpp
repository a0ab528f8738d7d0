// race equals its definition: it reports exactly the events that race with an earlier one, and every pair it
// names does race. On random traces with every kind of synchronization.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "race_oracle.h"
#include "support/choices.h"
#include "support/read_events.h"
#include "support/table.h"

namespace heddle::test {
namespace {

using Pairs = std::set<std::pair<EventIndex, EventIndex>>;

std::set<EventIndex> later_events(const Pairs& pairs) {
  std::set<EventIndex> result;
  for (const auto& pair : pairs) result.insert(pair.second);
  return result;
}

void check_race_law(const TraceShape& shape) {
  const std::string trace = random_trace(*any_choices(), shape);
  Pairs expected;
  for (const auto& pair : oracle::races(read_events(trace))) expected.insert(pair);
  RC_TAG(expected.empty() ? "race-free" : "racy");
  Pairs found;
  for (const Finding& finding : check_text("race", trace))
    found.emplace(finding.steps[0].event, finding.steps[1].event);
  RC_LOG() << trace;
  RC_ASSERT(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
  RC_ASSERT(later_events(found) == later_events(expected));
}

RC_GTEST_PROP(RaceLaw, EverySynchronization, ()) { check_race_law({}); }

RC_GTEST_PROP(RaceLaw, AtomicsAndFences, ()) {
  check_race_law(
      {.threads = 3, .variables = 2, .locks = 0, .barriers = 0, .semaphores = 0, .fork_join = false});
}

RC_GTEST_PROP(RaceLaw, LocksOnly, ()) {
  check_race_law({.threads = 3,
                  .variables = 2,
                  .locks = 2,
                  .barriers = 0,
                  .semaphores = 0,
                  .atomics = false,
                  .fork_join = false,
                  .lives = false});
}

RC_GTEST_PROP(RaceLaw, BarriersAndSemaphores, ()) {
  check_race_law({.threads = 4,
                  .variables = 2,
                  .locks = 0,
                  .barriers = 2,
                  .semaphores = 2,
                  .atomics = false,
                  .lives = false});
}

// Past eight concurrent readers the history keeps an index by thread.
RC_GTEST_PROP(RaceLaw, ManyThreads, ()) {
  check_race_law({.threads = 14, .variables = 1, .locks = 2, .barriers = 1, .semaphores = 0});
}

}  // namespace
}  // namespace heddle::test
