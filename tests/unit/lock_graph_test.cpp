#include "checkers/lock_graph.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace heddle {
namespace {

TEST(LockGraph, OneOrderHasNoCycle) {
  LockGraph graph;
  for (uint32_t lock = 20; lock > 0; --lock) graph.add(lock - 1, lock);
  EXPECT_FALSE(graph.on_one_cycle(0, 20));
  EXPECT_TRUE(graph.on_one_cycle(3, 3));
  graph.add(20, 0);
  EXPECT_TRUE(graph.on_one_cycle(0, 20));
  EXPECT_TRUE(graph.on_one_cycle(7, 12));
}

TEST(LockGraph, LocksNeverSeenAreAlone) {
  LockGraph graph;
  graph.add(0, 1);
  EXPECT_FALSE(graph.on_one_cycle(0, 99));
  EXPECT_TRUE(graph.on_one_cycle(99, 99));
}

// After every edge, two locks are on one cycle iff each reaches the other (transitive closure).
TEST(LockGraph, AgreesWithTransitiveClosure) {
  constexpr uint32_t kLocks = 12;
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    LockGraph graph;
    std::vector<std::vector<bool>> reaches(kLocks, std::vector<bool>(kLocks, false));
    for (int edge = 0; edge < 30; ++edge) {
      const uint32_t from = static_cast<uint32_t>(random() % kLocks);
      const uint32_t to = static_cast<uint32_t>(random() % kLocks);
      if (from == to) continue;
      graph.add(from, to);
      for (uint32_t a = 0; a < kLocks; ++a)
        for (uint32_t b = 0; b < kLocks; ++b)
          if ((a == from || reaches[a][from]) && (b == to || reaches[to][b])) reaches[a][b] = true;
      for (uint32_t a = 0; a < kLocks; ++a)
        for (uint32_t b = 0; b < kLocks; ++b)
          ASSERT_EQ(graph.on_one_cycle(a, b), a == b || (reaches[a][b] && reaches[b][a]))
              << "round " << round << ", locks " << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace heddle
