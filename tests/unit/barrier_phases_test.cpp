#include "core/barrier_phases.h"

#include <gtest/gtest.h>

#include <set>

namespace heddle {
namespace {

// A "clock" that is just the set of numbers it was joined with.
struct Marks {
  std::set<int> marks;
  void join(const Marks& other) { marks.insert(other.marks.begin(), other.marks.end()); }
};
Marks mark(int number) { return Marks{{number}}; }
using Set = std::set<int>;

TEST(BarrierPhases, ALeaveLearnsEveryArrivalOfItsPhase) {
  BarrierPhases<Marks> barrier;
  barrier.arrive(0, mark(1));
  barrier.arrive(1, mark(2));
  EXPECT_EQ(barrier.leave(0).marks, (Set{1, 2}));
  barrier.arrive(0, mark(3));  // the next phase, while thread 1 is still in the first
  EXPECT_EQ(barrier.leave(1).marks, (Set{1, 2}));
  barrier.arrive(1, mark(4));
  EXPECT_EQ(barrier.leave(1).marks, (Set{3, 4}));
}

TEST(BarrierPhases, ArrivingTwiceIsTwoPhases) {
  BarrierPhases<Marks> barrier;
  barrier.arrive(0, mark(1));
  barrier.arrive(1, mark(2));
  barrier.arrive(0, mark(3));
  EXPECT_EQ(barrier.leave(0).marks, (Set{1, 2}));
  EXPECT_EQ(barrier.leave(0).marks, (Set{3}));
}

TEST(BarrierPhases, ALateComerJoinsTheOpenPhase) {
  BarrierPhases<Marks> barrier;
  barrier.arrive(0, mark(1));
  barrier.leave(0);
  barrier.arrive(0, mark(2));
  barrier.arrive(5, mark(3));
  EXPECT_EQ(barrier.leave(5).marks, (Set{2, 3}));
}

TEST(BarrierPhases, AThreadThatNeverLeavesKeepsOnlyItsOwnPhase) {
  BarrierPhases<Marks> barrier;
  barrier.arrive(9, mark(-1));
  for (int round = 0; round < 1000; ++round) {
    barrier.arrive(0, mark(round));
    barrier.arrive(1, mark(round + 5000));
    const Set both = round == 0 ? Set{-1, 0, 5000} : Set{round, round + 5000};
    EXPECT_EQ(barrier.leave(0).marks, both);
    EXPECT_EQ(barrier.leave(1).marks, both);
    int kept = 0;
    barrier.for_each_phase([&](const Marks&) { ++kept; });
    ASSERT_EQ(kept, 1);
  }
  EXPECT_EQ(barrier.leave(9).marks, (Set{-1, 0, 5000}));
}

}  // namespace
}  // namespace heddle
