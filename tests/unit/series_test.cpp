// Rounds of a loop that are one event of a file (trace/series.h): what they did is read in its place, and no
// bytes that a recorder would not write are believed.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "trace/binary_reader.h"
#include "trace/binary_writer.h"
#include "trace/text_writer.h"

namespace heddle {
namespace {

// for (…) { sum += a[i]; if (sum > limit) b[i] = sum; }, of which `limit` comes from outside: operands are
// limit, sum, a[i], and the sum before.
SeriesShape sums() {
  constexpr uint32_t kLimit = 0;
  constexpr uint32_t kSum = 1;
  constexpr uint32_t kElement = 2;
  constexpr uint32_t kBefore = 3;
  SeriesShape shape;
  shape.inputs = 1;
  shape.own = 3;
  shape.steps = {
      {Operation::kAssign, kNoId, kBefore, {}},            // 0: the first time
      {Operation::kAssign, kNoId, kBefore, {kSum}},        // 1: later
      {Operation::kRead, 0, kElement, {}},                 // 2
      {Operation::kAssign, 0, kSum, {kBefore, kElement}},  // 3
      {Operation::kBranch, 0, kSum, {}},                   // 4
      {Operation::kBranch, 0, kLimit, {}},                 // 5
      {Operation::kWrite, 0, kSum, {}},                    // 6
  };
  shape.edges = {{SeriesShape::kFromOutside, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  shape.blocks = {{2, 4, 0, 3}, {6, 1, 0, 0}};
  return shape;
}

struct Recorded {
  Names names;
  std::vector<Event> events;

  Recorded() {
    names.table(Space::kThread).append("T");
    for (const char* name : {"a0", "a1", "a2", "b0", "b1", "b2"}) names.table(Space::kVariable).append(name);
    for (const char* name : {"limit", "sum", "element", "before"}) names.table(Space::kLocal).append(name);
    names.intern_site("sum.cpp:3");
  }

  void add_run(const std::string& text) {
    Event event;
    event.operation = kSeries;
    event.object = names.table(Space::kRun).append(text);
    event.local = 1;
    events.push_back(event);
  }

  std::string bytes() {
    std::string bytes;
    BinaryWriter writer(bytes, {});
    writer.write({0, events}, names);
    writer.finish();
    return bytes;
  }

  std::string read() {
    const std::string file = bytes();
    BinaryReader reader("t", file);
    std::string text;
    for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next())
      for (const Event& event : batch.events) text += operation_text(event, reader.names()) + " ";
    return text;
  }
};

std::string run_text(Names& names, uint32_t limit) {
  SeriesRun run;
  run.shape = names.table(Space::kShape).intern(sums().text());
  run.path = std::string_view("\0\1\0\0\1", 5);
  run.inputs = {limit};
  std::string text;
  run.add_to(text);
  SeriesRun::add_even(text, 0, 1, 3);
  SeriesRun::add_variables(text, {3, 5});
  return text;
}

TEST(Series, IsReadAsWhatItDid) {
  Recorded recorded;
  recorded.add_run(run_text(recorded.names, 0));
  EXPECT_EQ(recorded.read(),
            "set(before) r(a0)>element set(sum,before,element) br(sum) br(limit) w(b0)<sum "
            "set(before,sum) r(a1)>element set(sum,before,element) br(sum) br(limit) "
            "set(before,sum) r(a2)>element set(sum,before,element) br(sum) br(limit) w(b2)<sum ");
}

TEST(Series, DoesNotBranchOnWhatDependsOnNothing) {
  Recorded recorded;
  recorded.add_run(run_text(recorded.names, kNoId));
  EXPECT_EQ(recorded.read(),
            "set(before) r(a0)>element set(sum,before,element) br(sum) w(b0)<sum "
            "set(before,sum) r(a1)>element set(sum,before,element) br(sum) "
            "set(before,sum) r(a2)>element set(sum,before,element) br(sum) w(b2)<sum ");
}

TEST(Series, GoesOnWhereItWas) {
  Recorded recorded;
  SeriesRun run;
  run.shape = recorded.names.table(Space::kShape).intern(sums().text());
  run.previous = 1;
  run.path = std::string_view("\0", 1);
  run.inputs = {kNoId};
  std::string text;
  run.add_to(text);
  SeriesRun::add_variables(text, {2});
  recorded.add_run(text);
  EXPECT_EQ(recorded.read(), "set(before,sum) r(a2)>element set(sum,before,element) br(sum) ");
}

TEST(Series, VariablesNeedNotBeInARow) {
  Recorded recorded;
  SeriesShape shape;
  shape.steps = {{Operation::kRead, kNoId, SeriesShape::kNoOperand, {}}};
  shape.blocks = {{0, 1, 0, 0}};
  SeriesRun run;
  run.shape = recorded.names.table(Space::kShape).intern(shape.text());
  run.rounds = 4;
  std::string text;
  run.add_to(text);
  SeriesRun::add_variables(text, {5, 0, 3, 3});
  recorded.add_run(text);
  EXPECT_EQ(recorded.read(), "r(b2) r(a0) r(b0) r(b0) ");
}

TEST(Series, HasLivesThatBeginAndEnd) {
  Recorded recorded;
  const auto add = [&](Operation operation, bool tries, uint32_t first) {
    SeriesShape shape;
    shape.steps = {{operation, kNoId, SeriesShape::kNoOperand, {}, tries}};
    shape.blocks = {{0, 1, 0, 0}};
    SeriesRun run;
    run.shape = recorded.names.table(Space::kShape).intern(shape.text());
    run.rounds = 2;
    std::string text;
    run.add_to(text);
    SeriesRun::add_even(text, first, 1, 2);
    recorded.add_run(text);
  };
  add(Operation::kFree, false, 0);
  add(Operation::kFree, true, 1);
  add(Operation::kAlloc, false, 2);
  EXPECT_EQ(recorded.read(), "free(a0) free(a1) free(a1,checked) free(a2,checked) alloc(a2) alloc(b0) ");
}

// Whatever stands there, it is read as events that there can be, or refused.
TEST(Series, IsNotBelieved) {
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    Recorded recorded;
    std::string run = run_text(recorded.names, 0);
    std::string shape(recorded.names.table(Space::kShape)[0]);
    std::string& changed = random() % 2 == 0 ? run : shape;
    for (unsigned times = 1 + random() % 2; times > 0; --times) {
      const std::size_t at = random() % changed.size();
      if (random() % 4 == 0) {
        changed.resize(at);
        break;
      }
      const auto flipped = static_cast<unsigned char>(changed[at]) ^ 1U << random() % 8;
      changed[at] = static_cast<char>(random() % 3 == 0 ? random() : flipped);
    }
    recorded.names.table(Space::kShape) = StringTable();
    recorded.names.table(Space::kShape).append(shape);
    recorded.add_run(run);
    SeriesReader reader(recorded.names);
    std::vector<Event> events;
    if (!reader.add_events(recorded.events[0], events)) {
      ++refused;
      continue;
    }
    for (const Event& event : events) {
      const uint32_t operands = recorded.names.table(info(event.operation).space).size();
      ASSERT_LT(event.object, operands);
      ASSERT_TRUE(event.site == kNoId || event.site < recorded.names.sites().size());
    }
  }
  EXPECT_GT(refused, 5'000U);
  EXPECT_LT(refused, 20'000U);
}

TEST(Series, OfNothingIsNoEnd) {
  Recorded recorded;
  SeriesShape shape;
  shape.inputs = 1;
  shape.steps = {{Operation::kBranch, kNoId, 0, {}}};
  shape.blocks = {{0, 1, 0, 0}};
  SeriesRun run;
  run.shape = recorded.names.table(Space::kShape).intern(shape.text());
  run.rounds = 2;
  run.inputs = {kNoId};
  std::string text;
  run.add_to(text);
  for (int i = 0; i < 3000; ++i) recorded.add_run(text);
  Event last;
  last.object = 0;
  recorded.events.push_back(last);
  EXPECT_EQ(recorded.read(), "r(a0) ");
}

TEST(Series, ThatIsDamagedIsAnError) {
  Recorded recorded;
  recorded.add_run("\x05");
  try {
    recorded.read();
    FAIL() << "it was read";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "t: damaged: event 0 is a series that cannot be");
  }
}

}  // namespace
}  // namespace heddle
