// What the monitor remembers of rounds that were told before: two places for each, of which the older gives
// way.
#include "live/told_series.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "trace/event.h"

namespace heddle {
namespace {

using runtime::Channel;
using runtime::Record;
using runtime::SeriesBlock;
using runtime::SeriesPattern;
using runtime::SeriesStep;

constexpr uint64_t kPlace = 64;  // of the pattern, in the channel's texts
constexpr uint64_t kThread = 3;
constexpr uint64_t kUnchanged = 0;
constexpr uint32_t kContext = 5;

// A loop that reads an array and branches on a value from outside.
class ToldSeriesTest : public testing::Test {
 protected:
  ToldSeriesTest() : channel_(map_channel()), series_(*channel_) {
    SeriesPattern pattern = {};
    pattern.steps = 2;
    pattern.blocks = 1;
    pattern.in_series = 1;
    pattern.labels = 1;
    pattern.inputs = 1;
    SeriesStep steps[2] = {};
    steps[0].operation = static_cast<uint8_t>(Operation::kRead);
    steps[0].size = 8;
    steps[0].target = 1;
    steps[1].operation = static_cast<uint8_t>(Operation::kBranch);
    steps[1].address = runtime::kNoOperand;
    SeriesBlock block = {};
    block.steps = 2;
    char* const to = channel_->text + kPlace;
    std::memcpy(to, &pattern, sizeof(pattern));
    std::memcpy(to + sizeof(pattern), steps, sizeof(steps));
    std::memcpy(to + sizeof(pattern) + sizeof(steps), &block, sizeof(block));
  }

  // Ten rounds from this address on.
  ToldSeries::Told told(uint64_t address, uint32_t input = 1) {
    Record head = {};
    head.what = Record::pack(runtime::kToldSeries, 0, uint64_t{7});
    head.name = kPlace;
    head.context = kContext;
    head.extra = 5;
    ToldSeries::begin(thread_, head);
    Record first = {};
    first.pc = runtime::kFromOutside | uint64_t{10} << 32;
    first.caller = address;
    first.context = 8;  // how far they lie apart
    EXPECT_FALSE(ToldSeries::add(thread_, first));
    Record second = {};
    second.pc = input;
    EXPECT_TRUE(ToldSeries::add(thread_, second));
    return series_.told(thread_);
  }

  // What is known of the rounds from this address on; -1: nothing.
  int known(uint64_t address, uint64_t changes = kUnchanged) {
    const ToldSeries::Told rounds = told(address);
    const ToldSeries::Known* const found = series_.known(rounds, kThread, changes);
    return found == nullptr ? -1 : static_cast<int>(found->steps);
  }
  void know(uint64_t address, uint64_t steps) {
    const ToldSeries::Told rounds = told(address);
    EXPECT_EQ(series_.known(rounds, kThread, kUnchanged), nullptr);
    series_.know(rounds, {kUnchanged, "", steps});
  }

  // All zeros, and no memory where nothing is written.
  static Channel* map_channel() {
    void* const memory = ::mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<Channel*>(memory);
  }
  struct Free {
    void operator()(Channel* channel) const { ::munmap(channel, sizeof(Channel)); }
  };
  std::unique_ptr<Channel, Free> channel_;
  ToldSeries series_;
  ToldSeries::Thread thread_;
};

TEST_F(ToldSeriesTest, PatternAndRoundsAreRead) {
  const ToldSeries::Told rounds = told(0x1000, 4);
  ASSERT_NE(rounds.pattern, nullptr);
  EXPECT_EQ(rounds.rounds.rounds, 10u);
  EXPECT_EQ(rounds.rounds.series[0], 0x1000u);
  EXPECT_EQ(rounds.rounds.series[1], 8u);
  ASSERT_EQ(rounds.inputs.size(), 1u);
  EXPECT_EQ(rounds.inputs[0], 4u);
  EXPECT_EQ(rounds.steps(), 20u);
  EXPECT_EQ(rounds.events(20), 20u);
  EXPECT_EQ(told(0x1000, 0).events(20), 10u) << "no branch on what depends on nothing";
}

TEST_F(ToldSeriesTest, KnownByItsWords) {
  EXPECT_EQ(known(0x1000), -1);
  know(0x1000, 11);
  EXPECT_EQ(known(0x1000), 11);
  EXPECT_EQ(known(0x2000), -1) << "other addresses";
  EXPECT_EQ(known(0x1000), 11) << "asking for others makes nothing forgotten";
  EXPECT_EQ(known(0x1000, kUnchanged + 1), -1) << "a variable has ended since";
}

TEST_F(ToldSeriesTest, RunsAreOfInputsAndThread) {
  know(0x1000, 11);
  series_.know_run(told(0x1000, 1), kThread, 42, 7);
  const auto run = [&](uint32_t input, uint64_t thread) {
    const ToldSeries::Told rounds = told(0x1000, input);
    const ToldSeries::Known* const found = series_.known(rounds, thread, kUnchanged);
    return found == nullptr ? ~uint64_t{0} : found->run;
  };
  EXPECT_EQ(run(1, kThread), 42u);
  EXPECT_EQ(run(2, kThread), 0u) << "its rounds are known, with another input";
  series_.know_run(told(0x1000, 2), kThread, 43, 8);
  EXPECT_EQ(run(2, kThread), 43u);
  EXPECT_EQ(series_.known(told(0x1000, 2), kThread, kUnchanged)->events, 8u);
  EXPECT_EQ(run(2, kThread + 1), 0u);
}

// Others are remembered until the first one is gone: the last of them has its places, and so had one before
// it, the older of the two, which gives way when the first one comes again.
TEST_F(ToldSeriesTest, TheOlderOfTwoGivesWay) {
  constexpr uint64_t kFirst = 0x10000;
  const auto address = [](uint64_t i) { return kFirst + i * 64; };
  know(kFirst, 1);
  uint64_t last = 0;
  while (known(kFirst) == 1) {
    ASSERT_LT(++last, uint64_t{1} << 20);
    know(address(last), last + 1);
  }
  const ToldSeries::Told again = told(kFirst);
  EXPECT_EQ(series_.known(again, kThread, kUnchanged), nullptr);
  series_.know(again, {kUnchanged, "", 1});
  EXPECT_EQ(known(kFirst), 1);
  EXPECT_EQ(known(address(last)), static_cast<int>(last + 1)) << "there is room for both";
}

}  // namespace
}  // namespace heddle
