#include "checkers/lock_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
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
  std::mt19937 random(11);
  for (int round = 0; round < 600; ++round) {
    const uint32_t locks = round % 3 == 0 ? 30 : 12;
    LockGraph graph;
    std::vector<std::vector<bool>> reaches(locks, std::vector<bool>(locks, false));
    for (uint32_t edge = 0; edge < 5 * locks / 2; ++edge) {
      const uint32_t from = static_cast<uint32_t>(random() % locks);
      const uint32_t to = static_cast<uint32_t>(random() % locks);
      if (from == to) continue;
      graph.add(from, to);
      for (uint32_t a = 0; a < locks; ++a)
        for (uint32_t b = 0; b < locks; ++b)
          if ((a == from || reaches[a][from]) && (b == to || reaches[to][b])) reaches[a][b] = true;
      for (uint32_t a = 0; a < locks; ++a)
        for (uint32_t b = 0; b < locks; ++b)
          ASSERT_EQ(graph.on_one_cycle(a, b), a == b || (reaches[a][b] && reaches[b][a]))
              << "round " << round << ", locks " << a << " and " << b;
    }
  }
}

using Edges = std::vector<std::pair<uint32_t, uint32_t>>;

uint64_t steps_for(const Edges& edges) {
  LockGraph graph;
  for (const auto& [held, taken] : edges) graph.add(held, taken);
  return graph.steps();
}

// m √m with room to spare: what every order of edges must stay below.
uint64_t bound(const Edges& edges) {
  const double count = static_cast<double>(edges.size());
  return static_cast<uint64_t>(8 * count * std::sqrt(count));
}

constexpr uint32_t kMany = 40'000;

// Pairs of neighbours, each taken against the order in which the locks were first seen, or along it.
TEST(LockGraph, ChainsInEitherDirectionCostConstantStepsAnEdge) {
  Edges down;
  Edges up;
  for (uint32_t lock = 0; lock + 1 < kMany; ++lock) {
    down.emplace_back(lock + 1, lock);
    up.emplace_back(lock, lock + 1);
  }
  EXPECT_LE(steps_for(down), 4 * down.size());
  EXPECT_LE(steps_for(up), 4 * up.size());
}

TEST(LockGraph, ChainInRandomOrderStaysBelowTheBound) {
  Edges edges;
  for (uint32_t lock = 0; lock + 1 < kMany; ++lock) edges.emplace_back(lock, lock + 1);
  std::shuffle(edges.begin(), edges.end(), std::mt19937(3));
  EXPECT_LE(steps_for(edges), bound(edges));
}

// Nested in one global order, which has nothing to do with the order in which the locks were first seen.
TEST(LockGraph, ManyLocksInOneRandomOrderStayBelowTheBound) {
  std::mt19937 random(5);
  std::vector<uint32_t> rank(kMany / 4);
  std::iota(rank.begin(), rank.end(), 0U);
  std::shuffle(rank.begin(), rank.end(), random);
  Edges edges;
  while (edges.size() < std::size_t{4} * kMany) {
    const uint32_t a = static_cast<uint32_t>(random() % rank.size());
    const uint32_t b = static_cast<uint32_t>(random() % rank.size());
    if (a != b) edges.emplace_back(rank[std::min(a, b)], rank[std::max(a, b)]);
  }
  EXPECT_LE(steps_for(edges), bound(edges));
}

// Each lock joins the cycle of the first, which has an edge to all of them from the start.
TEST(LockGraph, ACycleThatGrowsByOneLockAtATimeStaysBelowTheBound) {
  Edges edges;
  for (uint32_t lock = 1; lock < kMany; ++lock) edges.emplace_back(0, lock);
  for (uint32_t lock = 1; lock < kMany; ++lock) edges.emplace_back(lock, 0);
  EXPECT_LE(steps_for(edges), bound(edges));
  edges.clear();
  for (uint32_t lock = 0; lock + 1 < kMany; ++lock) {
    edges.emplace_back(lock, lock + 1);
    edges.emplace_back(lock + 1, lock);
  }
  EXPECT_LE(steps_for(edges), bound(edges));
}

// Without any order most locks soon lie on one cycle.
TEST(LockGraph, RandomEdgesStayBelowTheBound) {
  std::mt19937 random(7);
  Edges edges;
  for (uint32_t i = 0; i < 4 * kMany; ++i)
    edges.emplace_back(static_cast<uint32_t>(random() % kMany), static_cast<uint32_t>(random() % kMany));
  std::erase_if(edges, [](const auto& edge) { return edge.first == edge.second; });
  EXPECT_LE(steps_for(edges), bound(edges));
}

}  // namespace
}  // namespace heddle
