#include "trace/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"
#include "checkers/registry.h"
#include "core/pipeline.h"
#include "trace/text_reader.h"
#include "trace/text_writer.h"
#include "trace/well_formed.h"

namespace heddle {
namespace {

// All events, which WellFormed has accepted and which stand in batches that follow each other.
std::vector<Event> generate(const SyntheticOptions& options) {
  SyntheticTrace trace(options);
  WellFormed well_formed;
  std::vector<Event> events;
  for (EventBatch batch = trace.next(); !batch.empty(); batch = trace.next()) {
    EXPECT_EQ(batch.first, events.size());
    events.insert(events.end(), batch.events.begin(), batch.events.end());
    well_formed.process(batch, trace);
  }
  return events;
}

std::vector<Finding> check(const char* checker, const SyntheticOptions& options) {
  SyntheticTrace trace(options);
  Findings findings;
  const CheckerOptions checker_options;
  std::vector<std::unique_ptr<Checker>> checkers;
  for (const CheckerEntry* entry : select_checkers(checker))
    checkers.push_back(entry->make({trace.names(), findings, checker_options}));
  run_checkers(trace, checkers);
  return findings.list();
}

std::string error_of(const SyntheticOptions& options) {
  try {
    SyntheticTrace trace(options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(accepted)";
}

// Every shape with few and many threads, short and long bursts, several seeds.
using Case = std::tuple<SyntheticShapeInfo, uint32_t /*threads*/, uint64_t /*seed*/>;

class EveryShape : public testing::TestWithParam<Case> {
 protected:
  SyntheticOptions options() const {
    const auto& [info, threads, seed] = GetParam();
    SyntheticOptions options;
    options.shape = info.shape;
    options.threads = threads;
    options.seed = seed;
    options.events = 30'011;
    options.variables = 1000;
    options.burst = seed == 1 ? 1 : 8;
    return options;
  }
};

std::string case_name(const testing::TestParamInfo<Case>& test) {
  const auto& [shape, threads, seed] = test.param;
  std::string name(shape.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_threads_" + std::to_string(threads) + "_seed_" + std::to_string(seed);
}

INSTANTIATE_TEST_SUITE_P(Synthetic, EveryShape,
                         testing::Combine(testing::ValuesIn(synthetic_shapes().begin(),
                                                            synthetic_shapes().end()),
                                          testing::Values(1, 2, 8, 60), testing::Values(1, 77)),
                         case_name);

TEST_P(EveryShape, IsWellFormedAndExactlyAsLongAsAsked) {
  for (const uint64_t events : {uint64_t{1000}, uint64_t{2047}, uint64_t{2048}, options().events}) {
    SyntheticOptions wanted = options();
    wanted.events = events;
    EXPECT_EQ(generate(wanted).size(), events);
  }
}

TEST_P(EveryShape, IsTheSameForTheSameSeedAndDiffersForAnother) {
  SyntheticOptions other = options();
  ++other.seed;
  const std::vector<Event> events = generate(options());
  EXPECT_EQ(events, generate(options()));
  EXPECT_NE(events, generate(other));
}

TEST_P(EveryShape, ClosesEveryBlockFreesEveryLockAndJoinsEveryThread) {
  int64_t open_blocks = 0;
  int64_t held_locks = 0;
  std::set<uint32_t> running;
  for (const Event& event : generate(options())) {
    open_blocks += event.operation == Operation::kBeginAtomic;
    open_blocks -= event.operation == Operation::kEnd;
    held_locks += event.operation == Operation::kAcquire;
    held_locks -= event.operation == Operation::kRelease;
    if (event.operation == Operation::kFork) running.insert(event.object);
    if (event.operation == Operation::kJoin) running.erase(event.object);
    EXPECT_TRUE(event.thread == 0 || running.contains(event.thread));
  }
  EXPECT_EQ(open_blocks, 0);
  EXPECT_EQ(held_locks, 0);
  EXPECT_TRUE(running.empty());
}

TEST_P(EveryShape, HasNoRaceButThePlantedOne) {
  const std::vector<Finding> findings = check("race", options());
  const std::optional<PlantedViolation> planted = SyntheticTrace(options()).planted();
  if (!planted) {
    EXPECT_TRUE(findings.empty()) << findings.front().message;
    return;
  }
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].steps[0].event, planted->read);
  EXPECT_EQ(findings[0].steps[1].event, planted->race);
  EXPECT_EQ(findings[1].steps[0].event, planted->race);
  EXPECT_EQ(findings[1].steps[1].event, planted->closing);
}

TEST_P(EveryShape, HasNoLockOrderCycle) { EXPECT_TRUE(check("deadlock", options()).empty()); }

TEST_P(EveryShape, SurvivesTheTextFormat) {
  SyntheticTrace trace(options());
  std::string text;
  for (EventBatch batch = trace.next(); !batch.empty(); batch = trace.next())
    for (const Event& event : batch.events) text += event_text(event, trace.names()) + "\n";
  TextReader reader("t", text);
  std::string again;
  for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next())
    for (const Event& event : batch.events) again += event_text(event, reader.names()) + "\n";
  EXPECT_EQ(again, text);
}

TEST(Synthetic, SameEventsOnEveryMachine) {
  SyntheticOptions options;
  options.events = 12;
  options.threads = 1;
  options.block_length = 2;
  SyntheticTrace trace(options);
  std::string text;
  for (EventBatch batch = trace.next(); !batch.empty(); batch = trace.next())
    for (const Event& event : batch.events) text += event_text(event, trace.names()) + "\n";
  EXPECT_EQ(text,
            "T0|fork(T1)|main.cpp:11\n"
            "T1|begin(f5)|gen.cpp:212\n"
            "T1|acq(m1)|gen.cpp:213\n"
            "T1|acq(m2)|gen.cpp:214\n"
            "T1|acq(m3)|gen.cpp:215\n"
            "T1|r(x2291)|gen.cpp:216\n"
            "T1|rel(m3)|gen.cpp:217\n"
            "T1|rel(m2)|gen.cpp:218\n"
            "T1|rel(m1)|gen.cpp:219\n"
            "T1|end(f5)|gen.cpp:220\n"
            "T0|join(T1)|main.cpp:14\n"
            "T0|r(total)|main.cpp:17\n");
}

TEST(Synthetic, ThePlantedViolationIsAmongTheLastThousandth) {
  SyntheticOptions options;
  options.shape = SyntheticShape::kLateViolation;
  options.events = 1'000'000;
  const PlantedViolation planted = SyntheticTrace(options).planted().value();
  EXPECT_GE(planted.read, options.events - options.events / 1000);
  const std::vector<Event> events = generate(options);
  EXPECT_EQ(events[planted.read].operation, Operation::kRead);
  EXPECT_EQ(events[planted.race].operation, Operation::kWrite);
  EXPECT_EQ(events[planted.race].thread, 0U);
  EXPECT_EQ(events[planted.closing].operation, Operation::kWrite);
  EXPECT_EQ(events[planted.closing].thread, events[planted.read].thread);
}

TEST(Synthetic, TwoPhaseLockedFollowsTheLockingDiscipline) {
  EXPECT_TRUE(check("lockset", {.events = 200'000}).empty());
}

TEST(Synthetic, MemoryOfLockSetsStaysSmallBecauseLocksAreTakenInNeighbourhoods) {
  std::set<std::vector<uint32_t>> sets;
  std::vector<std::vector<uint32_t>> held(9);
  for (const Event& event : generate({.events = 500'000})) {
    if (event.operation == Operation::kAcquire) held[event.thread].push_back(event.object);
    if (event.operation == Operation::kRelease) held[event.thread].pop_back();
    sets.insert(held[event.thread]);
  }
  EXPECT_LE(sets.size(), 3U * 64U + 1U);
}

TEST(Synthetic, RefusesOptionsThatNoTraceCanMeet) {
  EXPECT_EQ(error_of({.events = 15, .threads = 8}),
            "cannot generate a trace: 8 threads of this shape need at least 16 events");
  EXPECT_EQ(error_of({.events = 16, .threads = 8}), "(accepted)");
  EXPECT_EQ(error_of({.threads = 0}), "cannot generate a trace: it needs at least one thread besides main");
  EXPECT_EQ(error_of({.threads = 100, .variables = 100}),
            "cannot generate a trace: 100 threads need at least 216 variables");
  EXPECT_EQ(error_of({.block_length = 0}), "cannot generate a trace: a block has 1 to 10000 accesses");
  EXPECT_EQ(error_of({.block_length = 10'001}), "cannot generate a trace: a block has 1 to 10000 accesses");
  EXPECT_EQ(error_of({.events = 1000, .variables = 10'000'001}),
            "cannot generate a trace: at most 10000000 variables");
  EXPECT_EQ(error_of({.burst = 0}), "cannot generate a trace: a burst has 1 to 1000000 events");
}

TEST(Synthetic, ShapesAreFoundByName) {
  for (const SyntheticShapeInfo& info : synthetic_shapes())
    EXPECT_EQ(find_synthetic_shape(info.name), info.shape);
  try {
    find_synthetic_shape("feeder");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 55),
              "unknown shape 'feeder', did you mean 'feeders'?; the sh");
  }
}

}  // namespace
}  // namespace heddle
