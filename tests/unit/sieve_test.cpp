// That the sieve holds back what it can: what it may hold back is the matter of tests/oracle/sieve_test.cpp.
#include "live/sieve.h"

#include <gtest/gtest.h>

#include "trace/event.h"

namespace heddle {
namespace {

constexpr uint64_t kM = 0x1000;  // addresses
constexpr uint64_t kN = 0x2000;
constexpr uint64_t kX = 0x3000;

class SieveTest : public testing::Test {
 protected:
  void does(uint32_t stream, Operation operation, uint64_t address = 0) {
    runtime::Record record = {};
    record.what = runtime::Record::pack(static_cast<uint8_t>(operation), 8, address);
    record.pc = 1;
    sieve.add({stream, record}, passed);
  }
  void frees(uint32_t stream, uint64_t address, uint64_t bytes) {
    runtime::Record record = {};
    record.what = runtime::Record::pack(runtime::kToldFree, 0, address);
    record.name = bytes;
    sieve.add({stream, record}, passed);
  }
  // Both threads have acted, and nothing is kept.
  void begin() {
    does(0, Operation::kThreadBegin);
    does(1, Operation::kThreadBegin);
    passed.clear();
  }
  // A block that takes both locks, does something and gives them back.
  void two_phase_block(uint32_t stream) {
    does(stream, Operation::kBeginAtomic);
    does(stream, Operation::kAcquire, kM);
    does(stream, Operation::kAcquire, kN);
    does(stream, Operation::kWrite, kX);
    does(stream, Operation::kRelease, kN);
    does(stream, Operation::kRelease, kM);
    does(stream, Operation::kEnd);
  }
  std::size_t count(Operation operation) const {
    std::size_t result = 0;
    for (const Sieve::ToldRecord& told : passed)
      result += told.record.operation() == static_cast<uint8_t>(operation);
    return result;
  }

  Sieve sieve{Sieve::LetsThrough::kWhatMatters};
  std::vector<Sieve::ToldRecord> passed;
};

TEST_F(SieveTest, HoldsBackBlocksThatTakeAllBeforeTheyGive) {
  begin();
  two_phase_block(0);
  two_phase_block(1);
  passed.clear();  // the order of the locks was new
  for (uint32_t i = 0; i < 100'000; ++i) two_phase_block(i % 2);
  EXPECT_EQ(passed.size(), 0U);
}

TEST_F(SieveTest, HoldsBackTheEndOfALockThatTheCheckersHaveNotHeardOf) {
  begin();
  for (uint32_t i = 0; i < 100'000; ++i) {
    does(i % 2, Operation::kBeginAtomic);
    does(i % 2, Operation::kAcquire, kM);
    does(i % 2, Operation::kRelease, kM);
    does(i % 2, Operation::kEnd);
    frees(i % 2, kM, 64);
  }
  EXPECT_EQ(passed.size(), 0U);
}

TEST_F(SieveTest, LetsThroughTheEndOfALockThatTheCheckersHaveHeardOf) {
  begin();
  two_phase_block(0);
  EXPECT_EQ(count(Operation::kAcquire), 2U);  // the order of the locks was new
  passed.clear();
  frees(1, kN, 64);
  ASSERT_FALSE(passed.empty());
  EXPECT_EQ(passed.back().record.operation(), runtime::kToldFree);
}

TEST_F(SieveTest, WantsNoAccessesOfACalmProgramUntilABlockMatters) {
  begin();
  EXPECT_TRUE(sieve.wants_accesses());
  for (uint32_t i = 0; i < 50'000; ++i) two_phase_block(i % 2);
  EXPECT_FALSE(sieve.wants_accesses());
  does(0, Operation::kBeginAtomic);
  does(0, Operation::kAcquire, kM);
  does(0, Operation::kRelease, kM);
  EXPECT_FALSE(sieve.wants_accesses());
  does(0, Operation::kAcquire, kM);
  EXPECT_TRUE(sieve.wants_accesses());
  does(0, Operation::kRelease, kM);
  does(0, Operation::kEnd);
  for (uint32_t i = 0; i < 50'000; ++i) two_phase_block(i % 2);
  EXPECT_TRUE(sieve.wants_accesses());
}

TEST_F(SieveTest, LetsThroughABlockThatTakesAfterItGaveAndWhatHappensMeanwhile) {
  begin();
  does(0, Operation::kBeginAtomic);
  does(0, Operation::kAcquire, kM);
  does(0, Operation::kRead, kX);
  does(0, Operation::kRelease, kM);
  does(1, Operation::kAcquire, kM);
  does(1, Operation::kWrite, kX);
  does(1, Operation::kRelease, kM);
  EXPECT_EQ(passed.size(), 0U);
  does(0, Operation::kAcquire, kM);
  EXPECT_EQ(passed.size(), 8U);
  EXPECT_EQ(passed.front().record.operation(), static_cast<uint8_t>(Operation::kBeginAtomic));
  does(1, Operation::kWrite, kX + 64);
  EXPECT_EQ(passed.size(), 9U);
  does(0, Operation::kRelease, kM);
  does(0, Operation::kEnd);
  does(1, Operation::kWrite, kX + 64);
  EXPECT_EQ(passed.size(), 11U);
}

TEST_F(SieveTest, KeepsABlockFromItsBeginHoweverMuchOthersDo) {
  begin();
  does(0, Operation::kBeginAtomic);
  does(0, Operation::kRead, kX);
  for (uint32_t i = 0; i < 100'000; ++i) does(1, Operation::kWrite, kN);
  does(0, Operation::kAcquire, kM);
  does(0, Operation::kRelease, kM);
  does(0, Operation::kAcquire, kM);
  EXPECT_EQ(count(Operation::kBeginAtomic), 1U);
  EXPECT_EQ(count(Operation::kRead), 1U);
  EXPECT_LT(count(Operation::kWrite), 20'000U);
}

TEST_F(SieveTest, LetsALockOrderThroughOnce) {
  begin();
  for (int i = 0; i < 3; ++i) {
    does(0, Operation::kAcquire, kM);
    does(0, Operation::kAcquire, kN);
    does(0, Operation::kRelease, kN);
    does(0, Operation::kRelease, kM);
  }
  EXPECT_EQ(count(Operation::kAcquire), 2U);
}

TEST_F(SieveTest, LetsALockOrderThroughAgainWhenOtherLocksLieThere) {
  begin();
  for (int i = 0; i < 3; ++i) {
    does(0, Operation::kAcquire, kM);
    does(0, Operation::kAcquire, kN);
    does(0, Operation::kRelease, kN);
    does(0, Operation::kRelease, kM);
    frees(0, kM, 64);
  }
  EXPECT_EQ(count(Operation::kAcquire), 6U);
}

TEST_F(SieveTest, KnowsThatALockWasHandedOver) {
  begin();
  does(0, Operation::kAcquire, kM);
  does(1, Operation::kRelease, kM);
  EXPECT_TRUE(sieve.thread(0)->held.empty());
  passed.clear();
  does(0, Operation::kBeginAtomic);
  does(0, Operation::kAcquire, kM);
  does(0, Operation::kRelease, kM);
  EXPECT_EQ(passed.size(), 0U);
  does(0, Operation::kAcquire, kM);  // after it gave something back
  EXPECT_EQ(count(Operation::kBeginAtomic), 1U);
}

TEST_F(SieveTest, KnowsThatALockWasGivenBackUnseen) {
  begin();
  does(0, Operation::kAcquire, kM);
  does(1, Operation::kAcquire, kM);
  EXPECT_TRUE(sieve.thread(0)->held.empty());
  EXPECT_EQ(sieve.thread(1)->held.size(), 1U);
}

TEST_F(SieveTest, EndsBeforeAGapWhatWasSeenToBegin) {
  begin();
  does(0, Operation::kBeginAtomic);
  does(0, Operation::kAcquire, kM);
  does(1, Operation::kPost, kN);  // forces an order: all that is kept goes through
  EXPECT_EQ(count(Operation::kAcquire), 1U);
  does(0, Operation::kRelease, kM);
  does(0, Operation::kEnd);
  for (int i = 0; i < 100'000; ++i) does(0, Operation::kWrite, kX);
  passed.clear();
  does(1, Operation::kPost, kN);
  ASSERT_GE(passed.size(), 4U);
  EXPECT_EQ(passed[0].record.operation(), static_cast<uint8_t>(Operation::kEnd));
  EXPECT_EQ(passed[1].record.operation(), static_cast<uint8_t>(Operation::kRelease));
  EXPECT_EQ(passed[2].record.operation(), Sieve::kSkipped);
}

TEST_F(SieveTest, LetsEverythingThroughWhenAskedTo) {
  Sieve all(Sieve::LetsThrough::kAll);
  std::vector<Sieve::ToldRecord> out;
  runtime::Record record = {};
  record.what = runtime::Record::pack(static_cast<uint8_t>(Operation::kWrite), 8, kX);
  for (int i = 0; i < 50'000; ++i) all.add({0, record}, out);
  EXPECT_EQ(out.size(), 50'000U);
}

TEST_F(SieveTest, KnowsWhoHoldsAndWaitsThoughNothingGoesThrough) {
  begin();
  does(0, Operation::kAcquire, kM);
  runtime::Record waiting = {};
  waiting.what = runtime::Record::pack(runtime::kToldWaiting, 0, kM);
  waiting.extra = runtime::kForLock;
  sieve.add({1, waiting}, passed);
  EXPECT_EQ(passed.size(), 0U);
  ASSERT_EQ(sieve.thread(0)->held.size(), 1U);
  EXPECT_TRUE(sieve.thread(1)->waits());
  does(1, Operation::kPost, kN);  // a signal's handler
  EXPECT_TRUE(sieve.thread(1)->waits());
  does(0, Operation::kRelease, kM);
  does(1, Operation::kAcquire, kM);
  EXPECT_FALSE(sieve.thread(1)->waits());
  EXPECT_TRUE(sieve.thread(0)->held.empty());
}

}  // namespace
}  // namespace heddle
