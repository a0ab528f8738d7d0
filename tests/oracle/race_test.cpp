// race equals its definition: it reports exactly the events that race with an earlier one, and every pair it
// names does race. On random traces with every kind of synchronization.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "checkers/race.h"
#include "race_oracle.h"
#include "support/choices.h"
#include "support/ending_locks.h"
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

void expect_races(const std::vector<Finding>& findings, const std::vector<Event>& events) {
  Pairs expected;
  for (const auto& pair : oracle::races(events)) expected.insert(pair);
  RC_TAG(expected.empty() ? "race-free" : "racy");
  Pairs found;
  for (const Finding& finding : findings) found.emplace(finding.steps[0].event, finding.steps[1].event);
  RC_ASSERT(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
  RC_ASSERT(later_events(found) == later_events(expected));
}

void check_race_law(const TraceShape& shape) {
  const std::string trace = random_trace(*any_choices(), shape);
  RC_LOG() << trace;
  expect_races(check_text("race", trace), read_events(trace));
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

// Locks end, as those of a running program do, and others come under their numbers.
RC_GTEST_PROP(RaceLaw, EndingLocks, ()) {
  const std::string text = random_trace(*any_choices(), {.threads = 3,
                                                         .variables = 2,
                                                         .locks = 4,
                                                         .barriers = 0,
                                                         .semaphores = 0,
                                                         .atomics = false,
                                                         .fork_join = false});
  RC_LOG() << text;
  EndingLocks trace(text, *rc::gen::inRange(1U, 4U), *rc::gen::inRange<std::size_t>(1, 12));
  expect_races(check_ending(trace, kRaceChecker), trace.events());
}

// Past eight concurrent readers the history keeps an index by thread.
RC_GTEST_PROP(RaceLaw, ManyThreads, ()) {
  check_race_law({.threads = 14, .variables = 1, .locks = 2, .barriers = 1, .semaphores = 0});
}

}  // namespace
}  // namespace heddle::test
