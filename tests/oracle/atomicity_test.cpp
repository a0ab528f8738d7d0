// atomicity equals its definition: whichever engine decides, and with and without the race filter, it reports
// something exactly when transactions form a cycle, and is certain of it at the very event that closes the
// first one. Where it explains, the blocks it calls refuted are exactly those the cycle proves so.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "checkers/atomicity.h"
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

std::vector<Event> table_events(std::string_view table) { return read_events(parse_table(table).trace); }

using Indices = std::set<EventIndex>;

// The cycle is through two transactions of T, which only program order connects.
TEST(SerializabilityOracle, CycleThroughTwoTransactionsOfAThread) {
  const std::vector<Event> trace = table_events(R"(
    U     | T
    begin |
    w(x)  |
          | begin
          | r(x)
          | end
          | begin
          | w(y)
          | end
    r(y)  |
    end   |
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 8);
  EXPECT_EQ(oracle::refuted_blocks(trace, 8), Indices{0});
}

TEST(SerializabilityOracle, LostUpdateThoughEveryAccessIsLocked) {
  const std::vector<Event> trace = table_events(R"(
    T1     | T2
           | begin
           | acq(m)
           | r(x)
           | rel(m)
    begin  |
    acq(m) |
    r(x)   |
    w(x)   |
    rel(m) |
    end    |
           | acq(m)
           | w(x)
           | rel(m)
           | end
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 10);
  EXPECT_EQ(oracle::refuted_blocks(trace, 10), Indices{0});
}

// Either could run alone inside the other's wait, but not both: a cycle that no block can be blamed for.
TEST(SerializabilityOracle, BarrierBetweenTwoTransactions) {
  const std::vector<Event> trace = table_events(R"(
    T1        | T2
    begin     |
    arrive(b) |
              | begin
              | arrive(b)
    leave(b)  |
    end       |
              | leave(b)
              | end
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 6);
  EXPECT_EQ(oracle::refuted_blocks(trace, 6), Indices{});
}

TEST(SerializabilityOracle, BarrierThatOneSideOnlyLeaves) {
  EXPECT_EQ(oracle::first_cycle(table_events(R"(
    T1        | T2
    arrive(b) |
              | begin
              | arrive(b)
              | leave(b)
    leave(b)  |
  )")),
            std::nullopt);
}

// The cycle is certain, but which of the three blocks is to blame is not: B's way in comes after its way out.
TEST(SerializabilityOracle, CycleThatRefutesNoBlock) {
  const std::vector<Event> trace = table_events(R"(
    A     | B     | C
    begin |       |
          | begin |
          |       | begin
          | w(x)  |
          |       | w(y)
    r(x)  |       |
          | r(y)  |
    w(z)  |       |
          |       | r(z)
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 8);
  EXPECT_EQ(oracle::refuted_blocks(trace, 8), Indices{});
}

TEST(SerializabilityOracle, NestedBlockIsRefutedOnlyIfItContainsTheWayOut) {
  const std::vector<Event> trace = table_events(R"(
    T        | U
    begin(a) |
    w(x)     |
    begin(b) |
             | r(x)
             | w(y)
    r(y)     |
    begin(c) |
    w(x)     |
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 5);
  EXPECT_EQ(oracle::refuted_blocks(trace, 5), Indices{0});
  EXPECT_EQ(oracle::refuted_blocks(trace, 7), Indices{0});
}

TEST(SerializabilityOracle, NestedBlocksAreRefutedTogether) {
  const std::vector<Event> trace = table_events(R"(
    T        | U
    begin(a) |
    begin(b) |
    w(x)     |
             | w(x)
    begin(c) |
    r(x)     |
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 5);
  EXPECT_EQ(oracle::refuted_blocks(trace, 5), (Indices{0, 1}));
}

TEST(SerializabilityOracle, NewLifeIsNoConflict) {
  EXPECT_EQ(oracle::first_cycle(table_events(R"(
    T        | U
    begin(a) |
    w(x)     |
             | free(x)
             | w(x)
             | free(x)
    r(x)     |
  )")),
            std::nullopt);
}

TEST(SerializabilityOracle, SharedLocksAreNoConflict) {
  EXPECT_EQ(oracle::first_cycle(table_events(R"(
    T         | U
    begin(a)  |
    acq_sh(m) |
              | acq_sh(m)
    rel_sh(m) |
              | rel_sh(m)
    acq_sh(m) |
  )")),
            std::nullopt);
}

TEST(SerializabilityOracle, SilentThreadStillOrdersForkBeforeJoin) {
  const std::vector<Event> trace = table_events(R"(
    T        | U
    begin(a) |
    fork(V)  |
             | join(V)
             | w(x)
    r(x)     |
  )");
  EXPECT_EQ(oracle::first_cycle(trace), 4);
  EXPECT_EQ(oracle::refuted_blocks(trace, 4), Indices{0});
}

TEST(SerializabilityOracle, PostsCommute) {
  EXPECT_EQ(oracle::first_cycle(table_events(R"(
    T        | U
    begin(a) |
    post(s)  |
             | post(s)
    post(s)  |
  )")),
            std::nullopt);
}

// The law.

// Some choices come to nothing. Short traces are as likely as long ones, whatever number of tests was asked
// for.
constexpr int kMostChoices = 80;

void check_engine(const std::string& trace, const std::vector<Event>& events,
                  std::optional<EventIndex> first_cycle, const CheckerOptions& options) {
  const std::vector<Finding> findings = check_text("atomicity", trace, options);
  RC_ASSERT(findings.empty() == !first_cycle.has_value());
  if (findings.empty()) return;
  const Finding& first = first_certain(findings);
  RC_ASSERT(first.certain_at == *first_cycle);
  for (const Finding& finding : findings) expect_real_steps(trace, finding);
  if (options.engine == Engine::kClock) return;
  const auto is_at_first = [&](const Finding& finding) { return finding.certain_at == *first_cycle; };
  RC_ASSERT(std::count_if(findings.begin(), findings.end(), is_at_first) == 1);
  // An inner block begins after those around it, so the latest begin is the innermost block.
  std::vector<std::string> refuted;
  for (const EventIndex begin : oracle::refuted_blocks(events, *first_cycle))
    refuted.insert(refuted.begin(), fmt::format("b{}", begin));
  RC_ASSERT(first.blocks == refuted);
}

void check_atomicity_law(TraceShape shape) {
  shape.unique_blocks = true;
  const std::string trace = random_trace(*rc::gen::resize(kMostChoices, any_choices()), shape);
  RC_LOG() << trace;
  const std::vector<Event> events = read_events(trace);
  const std::optional<EventIndex> first_cycle = oracle::first_cycle(events);
  RC_TAG(first_cycle ? fmt::format("cycle, refutes {}", oracle::refuted_blocks(events, *first_cycle).size())
                     : "serializable");
  // Explained by a second reading, by a second reading or not, by what is kept.
  const std::size_t recent_events = *rc::gen::element<std::size_t>(0, 12, 1000);
  for (const Engine engine : {Engine::kGraph, Engine::kClock, Engine::kAuto})
    for (const RaceFilter filter : {RaceFilter::kOff, RaceFilter::kOn, RaceFilter::kAuto}) {
      RC_LOG() << "engine " << static_cast<int>(engine) << ", filter " << static_cast<int>(filter) << "\n";
      check_engine(trace, events, first_cycle,
                   {.engine = engine, .race_filter = filter, .recent_events = recent_events});
    }
}

// Locks end, as those of a running program do, and others come under their numbers.
RC_GTEST_PROP(AtomicityLaw, EndingLocks, ()) {
  const std::string text =
      random_trace(*rc::gen::resize(kMostChoices, any_choices()), {.threads = 3,
                                                                   .variables = 2,
                                                                   .locks = 4,
                                                                   .barriers = 0,
                                                                   .semaphores = 0,
                                                                   .block_weight = 3,
                                                                   .deepest_block = 2,
                                                                   .unique_blocks = true});
  RC_LOG() << text;
  EndingLocks trace(text, *rc::gen::inRange(1U, 4U), *rc::gen::inRange<std::size_t>(1, 12));
  const std::optional<EventIndex> first_cycle = oracle::first_cycle(trace.events());
  RC_TAG(first_cycle ? "cycle" : "serializable");
  const std::vector<Finding> found =
      check_ending(trace, kAtomicityChecker, {.recent_events = *rc::gen::element<std::size_t>(0, 12, 1000)});
  RC_ASSERT(found.empty() == !first_cycle.has_value());
  if (found.empty()) return;
  RC_ASSERT(first_certain(found).certain_at == *first_cycle);
}

RC_GTEST_PROP(AtomicityLaw, EverySynchronization, ()) {
  check_atomicity_law({.block_weight = 3, .deepest_block = 3, .deterministic_blocks = true, .stops = true});
}

// Few events conflict, so that cycles are long and serializable traces are too.
RC_GTEST_PROP(AtomicityLaw, ManyVariables, ()) {
  check_atomicity_law({.variables = 12,
                       .locks = 1,
                       .barriers = 0,
                       .semaphores = 0,
                       .fork_join = false,
                       .lives = false,
                       .block_weight = 4,
                       .deepest_block = 2});
}

RC_GTEST_PROP(AtomicityLaw, PlainAndAtomicAccesses, ()) {
  check_atomicity_law({.threads = 3,
                       .variables = 4,
                       .locks = 0,
                       .barriers = 0,
                       .semaphores = 0,
                       .fork_join = false,
                       .block_weight = 5,
                       .deepest_block = 2});
}

RC_GTEST_PROP(AtomicityLaw, LocksOnly, ()) {
  check_atomicity_law({.threads = 3,
                       .variables = 0,
                       .locks = 3,
                       .barriers = 0,
                       .semaphores = 0,
                       .atomics = false,
                       .fork_join = false,
                       .lives = false,
                       .block_weight = 1,
                       .deepest_block = 2});
}

// Accesses that are ordered by locks and accesses that race, side by side: what the race filter tells apart.
RC_GTEST_PROP(AtomicityLaw, LocksAndPlainAccesses, ()) {
  check_atomicity_law({.threads = 3,
                       .variables = 4,
                       .locks = 2,
                       .barriers = 0,
                       .semaphores = 0,
                       .shared_locks = false,
                       .atomics = false,
                       .fork_join = false,
                       .lives = false,
                       .block_weight = 4,
                       .deepest_block = 2});
}

RC_GTEST_PROP(AtomicityLaw, DeterministicBlocksThatFork, ()) {
  check_atomicity_law({.variables = 4,
                       .locks = 1,
                       .barriers = 0,
                       .semaphores = 0,
                       .shared_locks = false,
                       .atomics = false,
                       .lives = false,
                       .block_weight = 4,
                       .deepest_block = 3,
                       .deterministic_blocks = true,
                       .fork_weight = 6,
                       .all_forked = true,
                       .stops = true});
}

RC_GTEST_PROP(AtomicityLaw, BarriersAndSemaphores, ()) {
  check_atomicity_law({.threads = 4,
                       .variables = 0,
                       .locks = 0,
                       .barriers = 2,
                       .semaphores = 2,
                       .atomics = false,
                       .fork_join = false,
                       .lives = false,
                       .block_weight = 1,
                       .deepest_block = 2});
}

RC_GTEST_PROP(AtomicityLaw, ManyThreads, ()) {
  check_atomicity_law({.threads = 6,
                       .variables = 2,
                       .locks = 2,
                       .barriers = 0,
                       .semaphores = 1,
                       .block_weight = 3,
                       .deepest_block = 2,
                       .deterministic_blocks = true});
}

}  // namespace
}  // namespace heddle::test
