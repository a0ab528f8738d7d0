// Which threads a cycle can go through: the biconnected parts of the threads that meet.
#include "checkers/predictive/thread_parts.h"

#include <gtest/gtest.h>

namespace heddle::predictive {
namespace {

using Links = std::vector<std::pair<ThreadId, ThreadId>>;

ThreadParts parts(std::size_t threads, const Links& links) {
  return {std::vector<uint32_t>(threads, 1), links};
}

TEST(ThreadParts, ThreadsInARowMeetOnlyTheirNeighbours) {
  const ThreadParts row = parts(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_NE(row.common(0, 1), kNoId);
  EXPECT_NE(row.common(1, 2), kNoId);
  EXPECT_EQ(row.common(0, 2), kNoId);
  for (ThreadId thread = 0; thread < 4; ++thread) EXPECT_EQ(row.longest_cycle(thread), 2U);
}

TEST(ThreadParts, ARingIsOnePart) {
  const ThreadParts ring = parts(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  EXPECT_EQ(ring.common(0, 2), ring.common(1, 3));
  EXPECT_NE(ring.common(0, 2), kNoId);
  EXPECT_EQ(ring.longest_cycle(2), 4U);
}

// Two rings with thread 2 in both, and a tail.
TEST(ThreadParts, RingsThatShareAThreadStayApart) {
  const ThreadParts rings =
      parts(7, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {5, 2}, {5, 6}, {6, 5}});
  EXPECT_EQ(rings.common(0, 3), kNoId);
  EXPECT_EQ(rings.longest_cycle(0), 3U);
  EXPECT_EQ(rings.longest_cycle(2), 4U);
  EXPECT_EQ(rings.longest_cycle(6), 2U);
  EXPECT_TRUE(rings.contains(rings.common(0, 1), 2));
  EXPECT_FALSE(rings.contains(rings.common(0, 1), 3));
}

TEST(ThreadParts, CountsTransactionsNotThreads) {
  const ThreadParts pair({1, 2, 2}, {{0, 1}});
  EXPECT_EQ(pair.longest_cycle(0), 3U);
  EXPECT_EQ(pair.longest_cycle(2), 0U);
  EXPECT_EQ(pair.common(0, 2), kNoId);
}

TEST(ThreadParts, ALongRowNeedsNoLongStack) {
  Links links;
  constexpr ThreadId kThreads = 200'000;
  for (ThreadId thread = 1; thread < kThreads; ++thread) links.emplace_back(thread - 1, thread);
  EXPECT_EQ(parts(kThreads, links).longest_cycle(kThreads / 2), 2U);
}

}  // namespace
}  // namespace heddle::predictive
