#include "checkers/superseded.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace heddle {
namespace {

// A run of threads that take locks and synchronize. A thread's dependencies of one group make the same
// findings.
class LockRun {
 public:
  explicit LockRun(ThreadId threads) {
    for (ThreadId thread = 0; thread < threads; ++thread) clocks_.emplace_back(thread);
    stretches_.resize(threads);
  }

  void take(ThreadId thread, uint32_t group) {
    Dependency dependency{.thread = thread, .wanted = {}, .holding = {}, .clock = clocks_[thread]};
    dependency.stretch = stretches_[thread] << 8 | thread;
    dependencies.push_back(dependency);
    groups.push_back(thread * 100 + group);
  }
  VectorClock post(ThreadId thread) {
    ++stretches_[thread];
    return clocks_[thread].publish();
  }
  void wait(ThreadId thread, const VectorClock& posted) {
    clocks_[thread].join(posted);
    ++stretches_[thread];
  }
  void barrier(ThreadId a, ThreadId b) {
    const VectorClock from_a = post(a);
    const VectorClock from_b = post(b);
    wait(a, from_b);
    wait(b, from_a);
  }
  // "x" for what can be dropped, "." for what stays.
  std::string dropped() const {
    std::string text;
    for (const bool one : superseded(dependencies, groups)) text += one ? 'x' : '.';
    return text;
  }
  bool can_meet(std::size_t a, std::size_t b) const {
    const Dependency& one = dependencies[a];
    const Dependency& other = dependencies[b];
    return one.thread != other.thread && !one.clock.knows(other.clock.epoch()) &&
           !other.clock.knows(one.clock.epoch());
  }

  Dependencies dependencies;
  std::vector<uint32_t> groups;

 private:
  std::vector<ThreadClock> clocks_;
  std::vector<uint64_t> stretches_;  // by thread: how often its clock has changed
};

TEST(Superseded, ALoopThatOnlyPosts) {
  LockRun run(2);
  run.take(1, 0);
  for (int round = 0; round < 5; ++round) {
    run.take(0, 0);
    run.post(0);
  }
  EXPECT_EQ(run.dropped(), ".xxxx.");
}

TEST(Superseded, OtherSitesAreAnotherGroup) {
  LockRun run(2);
  for (const uint32_t group : {0U, 1U, 0U, 1U, 2U}) {
    run.take(0, group);
    run.post(0);
  }
  EXPECT_EQ(run.dropped(), "xx...");
}

TEST(Superseded, ThreadsThatTakeTurns) {
  LockRun run(3);
  for (int round = 0; round < 4; ++round) {
    run.take(0, 0);
    run.wait(1, run.post(0));
    run.take(1, 0);
    run.wait(0, run.post(1));
  }
  EXPECT_EQ(run.dropped(), "xxxxxx..");
}

// In each phase the two can meet, and the latest phase stands for all.
TEST(Superseded, PhasesThatRepeat) {
  LockRun run(3);
  for (int phase = 0; phase < 4; ++phase) {
    run.take(0, 0);
    run.take(1, 0);
    run.barrier(0, 1);
  }
  EXPECT_EQ(run.dropped(), "xxxxxx..");
}

// The two meet in the first phase only: a third that comes later can still make a cycle with both.
TEST(Superseded, AMeetingThatDoesNotComeAgainStays) {
  LockRun run(3);
  run.take(0, 0);
  run.take(1, 0);
  run.barrier(0, 1);
  run.take(0, 0);
  EXPECT_EQ(run.dropped(), "...");
  run.barrier(0, 1);
  run.take(0, 0);
  EXPECT_EQ(run.dropped(), "..x.");
}

// Whoever can meet has successors among what stays, of the same groups, who can meet.
TEST(Superseded, EveryMeetingHasAStandIn) {
  std::mt19937 random(17);
  std::size_t all = 0;
  std::size_t gone = 0;
  for (int round = 0; round < 2000; ++round) {
    LockRun run(3);
    std::vector<VectorClock> posted(2);
    while (run.dependencies.size() < 16) {
      const ThreadId thread = static_cast<ThreadId>(random() % 3);
      VectorClock& semaphore = posted[random() % posted.size()];
      switch (random() % 6) {
        case 0: semaphore.join(run.post(thread)); break;
        case 1: run.wait(thread, semaphore); break;
        case 2: run.barrier(thread, (thread + 1) % 3); break;
        default: run.take(thread, static_cast<uint32_t>(random() % 2)); break;
      }
    }
    const std::string dropped = run.dropped();
    const std::size_t count = dropped.size();
    const auto stays_for = [&](std::size_t later, std::size_t earlier) {
      return later >= earlier && dropped[later] == '.' && run.groups[later] == run.groups[earlier];
    };
    for (std::size_t a = 0; a < count; ++a) {
      ++all;
      gone += dropped[a] == 'x' ? 1 : 0;
      bool stands_in = false;
      for (std::size_t x = 0; x < count; ++x) stands_in |= stays_for(x, a);
      ASSERT_TRUE(stands_in);
      for (std::size_t b = a + 1; b < count; ++b) {
        if (!run.can_meet(a, b)) continue;
        bool two = false;
        for (std::size_t x = 0; x < count; ++x)
          for (std::size_t y = 0; y < count; ++y)
            two |= stays_for(x, a) && stays_for(y, b) && run.can_meet(x, y);
        ASSERT_TRUE(two) << "round " << round << ", " << a << " and " << b << " of " << dropped;
        for (std::size_t c = b + 1; c < count; ++c) {
          if (!run.can_meet(a, c) || !run.can_meet(b, c)) continue;
          bool three = false;
          for (std::size_t x = 0; x < count; ++x)
            for (std::size_t y = 0; y < count; ++y)
              for (std::size_t z = 0; z < count; ++z)
                three |= stays_for(x, a) && stays_for(y, b) && stays_for(z, c) && run.can_meet(x, y) &&
                         run.can_meet(x, z) && run.can_meet(y, z);
          ASSERT_TRUE(three) << "round " << round << ", " << a << ", " << b << " and " << c << " of "
                             << dropped;
        }
      }
    }
  }
  EXPECT_GT(gone, all / 10);  // else it proves little
}

}  // namespace
}  // namespace heddle
