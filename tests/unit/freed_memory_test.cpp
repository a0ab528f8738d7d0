// Memory that was given back, against the bytes themselves.
#include "live/freed_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

namespace heddle {
namespace {

TEST(FreedMemory, KnowsWhichBytesWereFreedAsWhat) {
  constexpr uint64_t kBytes = 256;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    FreedMemory freed;
    std::array<uint32_t, kBytes> by_byte;
    by_byte.fill(FreedMemory::kNone);
    std::set<uint32_t> with_parts;
    uint32_t next = 0;
    for (int i = 0; i < 100; ++i) {
      const uint64_t begin = random() % kBytes;
      const uint64_t end = begin + 1 + random() % std::min(kBytes - begin, FreedMemory::kMostBytes);
      if (random() % 4 == 0) {
        const uint32_t whole = freed.part_of(begin);
        ASSERT_EQ(whole, by_byte[begin]) << "seed " << seed;
        if (whole != FreedMemory::kNone) with_parts.insert(whole);
        continue;
      }
      std::set<uint32_t> expected_there(by_byte.begin() + begin, by_byte.begin() + end);
      expected_there.erase(FreedMemory::kNone);
      std::set<uint32_t> there;
      freed.for_each(begin, end, [&](uint32_t variable) { there.insert(variable); });
      ASSERT_EQ(there, expected_there) << "seed " << seed;

      std::set<uint32_t> ended;
      freed.forget(begin, end, [&](uint32_t variable) { EXPECT_TRUE(ended.insert(variable).second); });
      std::fill(by_byte.begin() + begin, by_byte.begin() + end, FreedMemory::kNone);
      std::set<uint32_t> expected_ended;
      for (const uint32_t variable : expected_there)
        if (std::find(by_byte.begin(), by_byte.end(), variable) == by_byte.end() &&
            !with_parts.contains(variable))
          expected_ended.insert(variable);
      ASSERT_EQ(ended, expected_ended) << "seed " << seed;
      if (random() % 2 == 0) continue;
      freed.add(begin, end, next);
      std::fill(by_byte.begin() + begin, by_byte.begin() + end, next++);
    }
  }
}

}  // namespace
}  // namespace heddle
