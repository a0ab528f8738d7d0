// When a thread looks again, what it saw before is thrown away.
#include "live/looks.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

constexpr uint64_t kHere = 8;
constexpr uint64_t kElsewhere = 16;
constexpr SiteId kLine = 1;
constexpr SiteId kOtherLine = 2;

TEST(Looks, TheSameLookTwiceIsAWait) {
  Looks looks;
  looks.outermost_block_begins();
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicUpdate, kElsewhere, kLine));
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicRead, kHere, kLine));
  EXPECT_TRUE(looks.looks_again(Operation::kAtomicRead, kHere, kLine));
  EXPECT_TRUE(looks.looks_again(Operation::kAtomicRead, kHere, kLine));
}

TEST(Looks, ASecondLookElsewhereIsNone) {
  Looks looks;
  looks.outermost_block_begins();
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicRead, kHere, kLine));
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicRead, kHere, kOtherLine));
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicRead, kElsewhere, kOtherLine));
}

TEST(Looks, NotAfterAnythingElse) {
  Looks looks;
  looks.outermost_block_begins();
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicRead, kHere, kLine));
  EXPECT_FALSE(looks.looks_again(Operation::kAcquire, kElsewhere, kOtherLine));
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicRead, kHere, kLine));
}

TEST(Looks, AFailedExchangeThrowsAwayOnlyLooks) {
  Looks looks;
  looks.outermost_block_begins();
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicRead, kHere, kLine));
  EXPECT_TRUE(looks.looks_again(Operation::kAtomicCompareFail, kHere, kOtherLine));
  looks.outermost_block_begins();
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicWrite, kElsewhere, kLine));
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicRead, kHere, kLine));
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicCompareFail, kHere, kOtherLine));
}

TEST(Looks, AReadModifyWriteIsNoLook) {
  Looks looks;
  looks.outermost_block_begins();
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicUpdate, kHere, kLine));
  EXPECT_FALSE(looks.looks_again(Operation::kAtomicUpdate, kHere, kLine));
}

}  // namespace
}  // namespace heddle
