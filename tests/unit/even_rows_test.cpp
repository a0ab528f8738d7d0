// What the recorder remembers of rows of variables: what is true of a row is true of the part of it that ends
// at the same place, as long as nothing has changed, and of nothing else.
#include "live/even_rows.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace heddle {
namespace {

constexpr uint64_t kChanges = 7;
// Twenty elements of 8 bytes, every second one; their variables are 100, 103, …
constexpr EvenRows::Accesses kRow = {.first = 4096, .stride = 16, .count = 20, .size = 8};
constexpr EvenRows::Numbers kNumbers = {.first = 100, .distance = 3};

// So many accesses that end where the row ends.
EvenRows::Accesses last(uint32_t count) {
  return {
      .first = kRow.last() - (uint64_t{count} - 1) * kRow.stride, .stride = 16, .count = count, .size = 8};
}

class EvenRowsTest : public testing::Test {
 protected:
  EvenRowsTest() { rows_.add(kRow, kChanges, kNumbers); }

  EvenRows rows_;
  EvenRows::Numbers found_;
};

TEST_F(EvenRowsTest, KnowsTheRowAndItsLastPart) {
  ASSERT_TRUE(rows_.find(kRow, kChanges, found_));
  EXPECT_EQ(found_.first, 100U);
  ASSERT_TRUE(rows_.find(last(5), kChanges, found_));
  EXPECT_EQ(found_.first, 145U);
  EXPECT_EQ(found_.distance, 3);
}

TEST_F(EvenRowsTest, KnowsNothingOfWhatLiesInFrontOfIt) {
  EXPECT_FALSE(rows_.find(last(21), kChanges, found_));
}

TEST_F(EvenRowsTest, KnowsNothingOfOtherAccesses) {
  EvenRows::Accesses smaller = kRow;
  smaller.size = 4;
  EXPECT_FALSE(rows_.find(smaller, kChanges, found_));
  EvenRows::Accesses denser = last(5);
  denser.first += 4 * uint64_t{8};
  denser.stride = 8;
  EXPECT_EQ(denser.last(), kRow.last());
  EXPECT_FALSE(rows_.find(denser, kChanges, found_));
  EvenRows::Accesses elsewhere = kRow;
  elsewhere.first += kRow.stride;
  EXPECT_FALSE(rows_.find(elsewhere, kChanges, found_));
}

TEST_F(EvenRowsTest, KnowsNothingOnceVariablesHaveChanged) {
  EXPECT_FALSE(rows_.find(kRow, kChanges + 1, found_));
}

}  // namespace
}  // namespace heddle
