// The clocks equal plain vectors of numbers under every sequence of publications and joins.
#include "core/vector_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace heddle {
namespace {

constexpr std::size_t kThreads = 5;
constexpr std::size_t kObjects = 4;
using Plain = std::array<Time, kThreads>;

void join(Plain& into, const Plain& from) {
  for (std::size_t i = 0; i < kThreads; ++i) into[i] = std::max(into[i], from[i]);
}

// Neighbours, and threads that are far apart in the tables' trees.
constexpr std::array<std::array<ThreadId, kThreads>, 6> kNumbers = {{
    {0, 1, 2, 3, 4},
    {0, 31, 32, 33, 1100},
    {1023, 1024, 1, 1025, 31},
    {1, 1023, 40, 500, 2000},
    {40'000, 5, 40'001, 70, 1 << 20},
    {Epoch::kMostThreads - 1, Epoch::kMostThreads - 40, 0, 32, 1 << 15},
}};

TEST(VectorClock, EqualsPlainVectorsOnRandomHistories) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const std::array<ThreadId, kThreads>& numbers = kNumbers[seed % kNumbers.size()];
    std::mt19937 random(seed);
    std::vector<ThreadClock> threads;
    std::array<VectorClock, kObjects> objects;
    std::array<Plain, kThreads> plain_threads{};
    std::array<Plain, kObjects> plain_objects{};
    for (ThreadId t = 0; t < kThreads; ++t) {
      threads.emplace_back(numbers[t]);
      plain_threads[t][t] = 1;
    }
    for (int step = 0; step < 60; ++step) {
      const std::size_t t = random() % kThreads;
      const std::size_t o = random() % kObjects;
      switch (random() % 5) {
        case 0:  // a lock's release: the object becomes the thread's clock
          objects[o] = threads[t].publish();
          plain_objects[o] = plain_threads[t];
          ++plain_threads[t][t];
          break;
        case 1:  // a semaphore's post: the object takes the thread's clock in
          objects[o].join(threads[t].publish());
          join(plain_objects[o], plain_threads[t]);
          ++plain_threads[t][t];
          break;
        case 2:  // an acquire
          threads[t].join(objects[o]);
          join(plain_threads[t], plain_objects[o]);
          break;
        case 3: {
          const std::size_t other = random() % kObjects;
          objects[o].join(objects[other]);
          join(plain_objects[o], plain_objects[other]);
          break;
        }
        default:
          if (random() % 4 != 0) break;
          objects[o].clear();
          plain_objects[o] = Plain{};
          break;
      }
      for (ThreadId u = 0; u < kThreads; ++u) {
        for (std::size_t i = 0; i < kThreads; ++i)
          ASSERT_EQ(threads[i].time_of(numbers[u]), plain_threads[i][u])
              << "seed " << seed << " step " << step;
        for (std::size_t i = 0; i < kObjects; ++i)
          ASSERT_EQ(objects[i].time_of(numbers[u]), plain_objects[i][u])
              << "seed " << seed << " step " << step;
      }
    }
  }
}

TEST(VectorClock, KnowsItsOwnPresentAndNeverIsAlwaysKnown) {
  const ThreadClock clock(7);
  EXPECT_TRUE(clock.knows(clock.epoch()));
  EXPECT_TRUE(clock.knows(Epoch()));
  EXPECT_FALSE(clock.knows(Epoch(3, 1)));
}

TEST(VectorClock, PublishingCopiesNothingUntilSomebodyChanges) {
  ThreadClock a(0), b(1);
  const VectorClock first = a.publish();
  b.join(first);
  const VectorClock second = b.publish();
  b.join(a.publish());
  EXPECT_EQ(second.time_of(0), 1u);  // the published clock did not move with b
  EXPECT_EQ(b.time_of(0), 2u);
}

TEST(Epoch, PacksThreadAndTime) {
  const Epoch epoch(Epoch::kMostThreads - 1, (Time{1} << Epoch::kTimeBits) - 1);
  EXPECT_EQ(epoch.thread(), Epoch::kMostThreads - 1);
  EXPECT_EQ(epoch.time(), (Time{1} << Epoch::kTimeBits) - 1);
  EXPECT_TRUE(Epoch().is_never());
  EXPECT_FALSE(Epoch(0, 1).is_never());
}

}  // namespace
}  // namespace heddle
