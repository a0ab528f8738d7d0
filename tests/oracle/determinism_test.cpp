// determinism equals its definition (serializability_oracle.h): it reports a run exactly when two unordered
// operations of a transaction conflict or transactions form a cycle, and it is certain of it at the very
// event that makes the first of either; both engines, with and without the race filter. Every conflict it
// names is one.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "checkers/determinism.h"
#include "serializability_oracle.h"
#include "support/choices.h"
#include "support/ending_locks.h"
#include "support/first_finding.h"
#include "support/read_events.h"
#include "support/real_steps.h"
#include "support/table.h"

namespace heddle::test {
namespace {

// The definition itself, on traces small enough to judge by eye.

using Conflicts = std::vector<std::pair<EventIndex, EventIndex>>;
using Indices = std::set<EventIndex>;

std::vector<Event> table_events(std::string_view table) { return read_events(parse_table(table).trace); }

// ALGORITHMS.md §3: missed by a checker that resets the clock of a thread at its begin, as S0 Fig. 4 does.
TEST(DeterminismOracle, ConflictDespiteJoinOfAnEarlierThread) {
  const std::vector<Event> trace = table_events(R"(
    v                      | u    | t
    fork(a)                |      |
    fork(u)                |      |
                           | r(z) |
    begin(b,deterministic) |      |
    fork(t)                |      |
    w(x)                   |      |
                           |      | join(u)
                           |      | w(x)
  )");
  EXPECT_EQ(oracle::conflicts(trace), (Conflicts{{5, 7}}));
  EXPECT_EQ(oracle::first_cycle(trace), std::nullopt);
  EXPECT_EQ(oracle::first_determinism_violation(trace), 7);
}

// ALGORITHMS.md §3: with that reset a false conflict, w(y) against r(y). There is a violation all the same:
// m's second block comes after its first, of which a is a part, and before a's join.
TEST(DeterminismOracle, AdoptedThreadJoinsTheThreadThatForkedIt) {
  const std::vector<Event> trace = table_events(R"(
    m                      | a
    begin(b,deterministic) |
    fork(a)                |
    w(y)                   |
    end                    |
    begin(c,deterministic) |
    end                    |
                           | join(m)
                           | r(y)
  )");
  EXPECT_EQ(oracle::conflicts(trace), Conflicts{});
  EXPECT_EQ(oracle::first_cycle(trace), 6);
  EXPECT_EQ(oracle::refuted_blocks(trace, 6), Indices{0});
  EXPECT_EQ(oracle::first_determinism_violation(trace), 6);
}

TEST(DeterminismOracle, AdoptedThreadJoinsItsParentRightAfterTheBlock) {
  EXPECT_EQ(oracle::first_determinism_violation(table_events(R"(
    m                      | a
    begin(b,deterministic) |
    fork(a)                |
    w(y)                   |
    end                    |
                           | join(m)
                           | r(y)
  )")),
            std::nullopt);
}

// Quicksort of S0 Fig. 1: divide, conquer, join, under a lock that others take too.
TEST(DeterminismOracle, ForkAndJoinInsideTheTransaction) {
  EXPECT_EQ(oracle::first_determinism_violation(table_events(R"(
    m                      | a    | b      | other
    begin(s,deterministic) |      |        |
    acq(l)                 |      |        |
    fork(a)                |      |        |
    fork(b)                |      |        |
                           | w(x) |        |
                           |      | w(y)   |
    join(a)                |      |        |
    join(b)                |      |        |
    w(x)                   |      |        |
    w(y)                   |      |        |
    rel(l)                 |      |        |
                           |      |        | acq(l)
                           |      |        | w(x)
    end                    |      |        |
  )")),
            std::nullopt);
}

// An atomic block does not adopt, so the same is a cycle.
TEST(DeterminismOracle, ForkAndJoinInsideAnAtomicBlock) {
  const std::vector<Event> trace = table_events(R"(
    m                      | a
    begin(o)               |
    begin(s,deterministic) |
    fork(a)                |
                           | w(x)
    join(a)                |
  )");
  EXPECT_EQ(oracle::conflicts(trace), Conflicts{});
  EXPECT_EQ(oracle::first_cycle(trace), 4);
  EXPECT_EQ(oracle::refuted_blocks(trace, 4), (Indices{0, 1}));
}

// The block itself is over when its forked thread is interfered with; it is refuted all the same.
TEST(DeterminismOracle, AdoptedThreadStaysInTheTransactionPastTheEnd) {
  const std::vector<Event> trace = table_events(R"(
    m                      | a        | other
    begin(o,deterministic) |          |
    begin(i,deterministic) |          |
    fork(a)                |          |
    end                    |          |
    end                    |          |
                           | begin(x) |
                           | w(x)     |
                           |          | w(x)
                           | end      |
                           | r(x)     |
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 9);
  EXPECT_EQ(oracle::refuted_blocks(trace, 9), (Indices{0, 1}));
}

// i does not adopt: the atomic block around it says that m is alone. o does.
TEST(DeterminismOracle, DeterministicBlockInsideANestedAtomicOneDoesNotContainForkedThreads) {
  const std::vector<Event> trace = table_events(R"(
    m                      | a    | other
    begin(o,deterministic) |      |
    begin(n)               |      |
    begin(i,deterministic) |      |
    fork(a)                |      |
                           | w(x) |
                           |      | w(x)
                           | r(x) |
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 6);
  EXPECT_EQ(oracle::refuted_blocks(trace, 6), Indices{0});
}

// A fork by the opening thread after its end is outside.
TEST(DeterminismOracle, ForkAfterTheEndDoesNotAdopt) {
  const std::vector<Event> trace = table_events(R"(
    m                      | a
    begin(o,deterministic) |
    w(x)                   |
    end                    |
    fork(a)                |
    w(y)                   |
                           | w(y)
  )");
  EXPECT_EQ(oracle::conflicts(trace), Conflicts{});
  EXPECT_EQ(oracle::first_determinism_violation(trace), std::nullopt);
}

TEST(DeterminismOracle, LocksAndAtomicsDoNotOrder) {
  EXPECT_EQ(oracle::conflicts(table_events(R"(
    m                      | a
    begin(o,deterministic) |
    fork(a)                |
    acq(l)                 |
    aw(x,seq_cst)          |
    rel(l)                 |
                           | acq(l)
                           | ar(x,seq_cst)
                           | rel(l)
  )")),
            (Conflicts{{2, 5}, {3, 6}, {4, 5}}));
}

TEST(DeterminismOracle, LockHeldAcrossAFork) {
  EXPECT_EQ(oracle::conflicts(table_events(R"(
    m                      | a
    begin(o,deterministic) |
    acq(l)                 |
    fork(a)                |
    rel(l)                 |
                           | acq(l)
  )")),
            (Conflicts{{3, 4}}));
}

// The inner acquire is no operation, so only the cycle through the outer release is wrong.
TEST(DeterminismOracle, RecursiveLockEventsDoNotConflict) {
  const std::vector<Event> trace = table_events(R"(
    m                      | a
    acq(l)                 |
    begin(o,deterministic) |
    fork(a)                |
    acq(l)                 |
    rel(l)                 |
    end                    |
    rel(l)                 |
                           | acq(l)
  )");
  EXPECT_EQ(oracle::conflicts(trace), Conflicts{});
  EXPECT_EQ(oracle::first_cycle(trace), 7);
  EXPECT_EQ(oracle::refuted_blocks(trace, 7), Indices{1});
}

TEST(DeterminismOracle, BarrierAndSemaphoreOrder) {
  EXPECT_EQ(oracle::first_determinism_violation(table_events(R"(
    m                      | a
    begin(o,deterministic) |
    fork(a)                |
    w(x)                   |
    arrive(b)              |
                           | arrive(b)
                           | leave(b)
                           | w(x)
                           | post(s)
    leave(b)               |
    wait(s)                |
    r(x)                   |
  )")),
            std::nullopt);
}

TEST(DeterminismOracle, WaitsCompeteForPosts) {
  EXPECT_EQ(oracle::conflicts(table_events(R"(
    m                      | a
    begin(o,deterministic) |
    fork(a)                |
    post(s)                |
    post(s)                |
    wait(s)                |
                           | wait(s)
  )")),
            (Conflicts{{4, 5}}));
}

// The law.

// Some choices come to nothing. Short traces are as likely as long ones, whatever number of tests was asked
// for.
constexpr int kMostChoices = 80;

void check_engine(const std::string& trace, const Conflicts& conflicts,
                  std::optional<EventIndex> first_violation, const CheckerOptions& options) {
  const std::vector<Finding> findings = check_text("determinism", trace, options);
  RC_ASSERT(findings.empty() == !first_violation.has_value());
  if (findings.empty()) return;
  const Finding& first = first_certain(findings);
  // With the filter, too: what orders two plain accesses without deterministic order is a conflict or a cycle
  // before the second of them comes.
  RC_ASSERT(first.certain_at == *first_violation);
  for (const Finding& finding : findings) expect_real_steps(trace, finding);
  if (options.race_filter != RaceFilter::kOff) return;
  for (const Finding& finding : findings) {
    if (finding.rule->name != "determinism-conflict") continue;
    RC_ASSERT(finding.steps.size() >= 2U);
    const auto [earlier, later] = std::minmax(finding.steps[0].event, finding.steps[1].event);
    const std::pair<EventIndex, EventIndex> pair(earlier, later);
    RC_ASSERT(std::find(conflicts.begin(), conflicts.end(), pair) != conflicts.end());
  }
}

// Which half of the definition the trace violates first.
std::string kind_of_violation(const std::vector<Event>& events, const Conflicts& conflicts,
                              std::optional<EventIndex> violation) {
  if (!violation) return "deterministic";
  for (const auto& [earlier, later] : conflicts)
    if (later == *violation)
      return oracle::first_cycle(events) == violation ? "conflict and cycle" : "conflict";
  return "cycle";
}

void check_determinism_law(TraceShape shape) {
  shape.unique_blocks = true;
  shape.deterministic_blocks = true;
  const std::string trace = random_trace(*rc::gen::resize(kMostChoices, any_choices()), shape);
  RC_LOG() << trace;
  const std::vector<Event> events = read_events(trace);
  const Conflicts conflicts = oracle::conflicts(events);
  const std::optional<EventIndex> first_violation = oracle::first_determinism_violation(events);
  RC_TAG(kind_of_violation(events, conflicts, first_violation));
  // Explained by a second reading, by a second reading or not, by what is kept.
  const std::size_t recent_events = *rc::gen::element<std::size_t>(0, 12, 1000);
  for (const Engine engine : {Engine::kGraph, Engine::kClock, Engine::kAuto})
    for (const RaceFilter filter : {RaceFilter::kOff, RaceFilter::kOn, RaceFilter::kAuto}) {
      RC_LOG() << "engine " << static_cast<int>(engine) << ", filter " << static_cast<int>(filter) << "\n";
      check_engine(trace, conflicts, first_violation,
                   {.engine = engine, .race_filter = filter, .recent_events = recent_events});
    }
}

// Locks end, as those of a running program do, and others come under their numbers.
RC_GTEST_PROP(DeterminismLaw, EndingLocks, ()) {
  const std::string text =
      random_trace(*rc::gen::resize(kMostChoices, any_choices()), {.threads = 3,
                                                                   .variables = 2,
                                                                   .locks = 4,
                                                                   .barriers = 0,
                                                                   .semaphores = 0,
                                                                   .shared_locks = false,
                                                                   .atomics = false,
                                                                   .block_weight = 3,
                                                                   .deepest_block = 2,
                                                                   .deterministic_blocks = true,
                                                                   .unique_blocks = true,
                                                                   .fork_weight = 6});
  RC_LOG() << text;
  EndingLocks trace(text, *rc::gen::inRange(1U, 4U), *rc::gen::inRange<std::size_t>(1, 12));
  const std::optional<EventIndex> first_violation = oracle::first_determinism_violation(trace.events());
  RC_TAG(first_violation ? "violation" : "deterministic");
  const std::vector<Finding> found = check_ending(
      trace, kDeterminismChecker, {.recent_events = *rc::gen::element<std::size_t>(0, 12, 1000)});
  RC_ASSERT(found.empty() == !first_violation.has_value());
  if (found.empty()) return;
  RC_ASSERT(first_certain(found).certain_at == *first_violation);
}

RC_GTEST_PROP(DeterminismLaw, EverySynchronization, ()) {
  check_determinism_law({.block_weight = 3, .deepest_block = 3, .stops = true});
}

RC_GTEST_PROP(DeterminismLaw, EverySynchronizationOfForkedThreads, ()) {
  check_determinism_law(
      {.block_weight = 2, .deepest_block = 3, .fork_weight = 6, .all_forked = true, .stops = true});
}

// Hardly any conflicting accesses: fork, join and blocks decide.
RC_GTEST_PROP(DeterminismLaw, ForkAndJoin, ()) {
  check_determinism_law({.threads = 5,
                         .variables = 12,
                         .locks = 0,
                         .barriers = 0,
                         .semaphores = 0,
                         .atomics = false,
                         .lives = false,
                         .block_weight = 3,
                         .deepest_block = 3,
                         .fork_weight = 6,
                         .all_forked = true,
                         .stops = true});
}

RC_GTEST_PROP(DeterminismLaw, LocksOnly, ()) {
  check_determinism_law({.threads = 4,
                         .variables = 0,
                         .locks = 5,
                         .barriers = 0,
                         .semaphores = 0,
                         .atomics = false,
                         .lives = false,
                         .block_weight = 2,
                         .deepest_block = 2,
                         .fork_weight = 4,
                         .all_forked = true});
}

RC_GTEST_PROP(DeterminismLaw, PlainAndAtomicAccesses, ()) {
  check_determinism_law({.threads = 3,
                         .variables = 8,
                         .locks = 0,
                         .barriers = 0,
                         .semaphores = 0,
                         .block_weight = 3,
                         .deepest_block = 2,
                         .fork_weight = 4,
                         .all_forked = true});
}

// Accesses that are ordered by locks and accesses that race, side by side: what the race filter tells apart.
RC_GTEST_PROP(DeterminismLaw, LocksAndPlainAccesses, ()) {
  check_determinism_law({.threads = 3,
                         .variables = 6,
                         .locks = 3,
                         .barriers = 0,
                         .semaphores = 0,
                         .atomics = false,
                         .lives = false,
                         .block_weight = 3,
                         .deepest_block = 2,
                         .fork_weight = 4,
                         .all_forked = true});
}

RC_GTEST_PROP(DeterminismLaw, BarriersAndSemaphores, ()) {
  check_determinism_law({.threads = 4,
                         .variables = 1,
                         .locks = 0,
                         .barriers = 2,
                         .semaphores = 2,
                         .atomics = false,
                         .lives = false,
                         .block_weight = 1,
                         .deepest_block = 2,
                         .fork_weight = 4,
                         .all_forked = true});
}

RC_GTEST_PROP(DeterminismLaw, ManyThreads, ()) {
  check_determinism_law({.threads = 6,
                         .variables = 2,
                         .locks = 2,
                         .barriers = 1,
                         .semaphores = 1,
                         .block_weight = 3,
                         .deepest_block = 2,
                         .fork_weight = 6,
                         .all_forked = true});
}

}  // namespace
}  // namespace heddle::test
