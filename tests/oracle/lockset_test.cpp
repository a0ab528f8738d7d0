// lockset equals its definition: it reports exactly the lives of variables in which the candidate set runs
// empty once shared and written, and argues with exactly the accesses that began, shrank or missed the
// candidates.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "lockset_oracle.h"
#include "support/choices.h"
#include "support/read_events.h"
#include "support/table.h"

namespace heddle::test {
namespace {

void check_lockset_law(const std::string& trace, const oracle::Owners& owners, Granularity granularity) {
  const std::set<std::vector<EventIndex>> expected = oracle::unguarded_variables(read_events(trace), owners);
  RC_TAG(expected.empty() ? "guarded" : "unguarded");
  CheckerOptions options;
  options.granularity = granularity;
  std::set<std::vector<EventIndex>> found;
  RC_LOG() << trace;
  for (const Finding& finding : check_text("lockset", trace, options)) {
    std::vector<EventIndex> events;
    events.reserve(finding.steps.size());
    for (const Step& step : finding.steps) events.push_back(step.event);
    RC_ASSERT(found.insert(std::move(events)).second);
  }
  RC_ASSERT(found == expected);
}

void check_field_law(const TraceShape& shape) {
  check_lockset_law(random_trace(*any_choices(), shape),
                    {[](uint32_t variable) { return variable; }, [](uint32_t) { return true; }},
                    Granularity::kField);
}

RC_GTEST_PROP(LocksetLaw, EveryOperation, ()) { check_field_law({}); }

RC_GTEST_PROP(LocksetLaw, LocksOnly, ()) {
  check_field_law({.threads = 3,
                   .variables = 2,
                   .locks = 3,
                   .barriers = 0,
                   .semaphores = 0,
                   .atomics = false,
                   .fork_join = false,
                   .lives = false,
                   .blocks = false});
}

RC_GTEST_PROP(LocksetLaw, AtomicsAndLocks, ()) {
  check_field_law({.threads = 3,
                   .variables = 1,
                   .locks = 2,
                   .barriers = 0,
                   .semaphores = 0,
                   .fork_join = false,
                   .blocks = false});
}

// x0 and x1 become fields of an object p, x2 and x3 elements of an array q, x4 is q as a whole.
RC_GTEST_PROP(LocksetLaw, PerObject, ()) {
  std::string trace = random_trace(*any_choices(), {.variables = 5, .barriers = 0, .semaphores = 0});
  for (const auto& [from, to] : {std::pair{"x0", "p.a"}, std::pair{"x1", "p->b"}, std::pair{"x2", "q[0]"},
                                 std::pair{"x3", "q[i[1]]"}, std::pair{"x4", "q"}})
    for (std::size_t at = trace.find(from); at != std::string::npos; at = trace.find(from))
      trace.replace(at, 2, to);
  TextReader reader("trace", trace);
  while (!reader.next().empty()) {
  }
  const auto name = [&](uint32_t variable) { return reader.names().variable(variable); };
  check_lockset_law(trace,
                    {[&](uint32_t variable) -> uint32_t { return name(variable)[0] == 'p' ? 0 : 1; },
                     [&](uint32_t variable) { return name(variable) == "q"; }},
                    Granularity::kObject);
}

}  // namespace
}  // namespace heddle::test
