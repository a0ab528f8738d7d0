#include "core/waits.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace heddle {
namespace {

// A few threads and locks, driven by hand.
class WaitsTest : public testing::Test {
 protected:
  void does(ThreadId thread, Operation operation, uint32_t object) {
    Event event;
    event.thread = thread;
    event.operation = operation;
    event.object = object;
    waits.follow(event, index++);
  }
  void waits_for(ThreadId thread, Wait::For what, uint32_t object) {
    waits.begin(thread, {what, object, kNoId, index});
  }
  std::vector<ThreadId> circle_of(ThreadId first) const {
    std::vector<ThreadId> threads;
    for (const BlockedThread& blocked : waits.circle_of(first)) threads.push_back(blocked.thread);
    return threads;
  }

  Waits waits;
  EventIndex index = 0;
};

using Threads = std::vector<ThreadId>;

TEST_F(WaitsTest, TwoThatWaitForEachOther) {
  does(0, Operation::kAcquire, 7);
  does(1, Operation::kAcquire, 8);
  waits_for(0, Wait::For::kLock, 8);
  EXPECT_EQ(circle_of(0), Threads());
  waits_for(1, Wait::For::kLock, 7);
  EXPECT_EQ(circle_of(1), (Threads{1, 0}));
  EXPECT_EQ(waits.circle_of(1)[0].held.lock, 8U);
  EXPECT_EQ(waits.circle_of(1)[0].locks, std::vector<uint32_t>{8});
}

TEST_F(WaitsTest, WhoGoesOnWaitsNoLonger) {
  does(0, Operation::kAcquire, 7);
  does(1, Operation::kAcquire, 8);
  waits_for(0, Wait::For::kLock, 8);
  does(1, Operation::kRelease, 8);
  does(0, Operation::kAcquire, 8);
  waits_for(1, Wait::For::kLock, 7);
  EXPECT_EQ(circle_of(1), Threads());
}

TEST_F(WaitsTest, WhoGivesUpWaitsNoLonger) {
  does(0, Operation::kAcquire, 7);
  does(1, Operation::kAcquire, 8);
  waits_for(0, Wait::For::kLock, 8);
  waits.give_up(0);
  waits_for(1, Wait::For::kLock, 7);
  EXPECT_EQ(circle_of(1), Threads());
}

TEST_F(WaitsTest, WhatAHandlerDoesMeanwhileEndsNoWait) {
  does(0, Operation::kAcquire, 7);
  does(1, Operation::kAcquire, 8);
  waits_for(0, Wait::For::kLock, 8);
  does(0, Operation::kPost, 3);
  waits_for(1, Wait::For::kLock, 7);
  EXPECT_EQ(circle_of(1), (Threads{1, 0}));
}

TEST_F(WaitsTest, ReadersWaitOnlyForTheWriter) {
  does(0, Operation::kAcquireShared, 7);
  does(1, Operation::kAcquire, 8);
  waits_for(0, Wait::For::kLock, 8);
  waits_for(1, Wait::For::kSharedLock, 7);
  EXPECT_EQ(circle_of(1), Threads());
  waits_for(1, Wait::For::kLock, 7);
  EXPECT_EQ(circle_of(1), (Threads{1, 0}));
}

TEST_F(WaitsTest, AReaderCannotBecomeTheWriter) {
  does(0, Operation::kAcquireShared, 7);
  waits_for(0, Wait::For::kLock, 7);
  EXPECT_EQ(circle_of(0), Threads{0});
}

TEST_F(WaitsTest, TheEndOfAThread) {
  does(0, Operation::kAcquire, 7);
  waits_for(0, Wait::For::kThread, 1);
  waits_for(1, Wait::For::kLock, 7);
  EXPECT_EQ(circle_of(1), (Threads{1, 0}));
  EXPECT_EQ(waits.circle_of(1)[0].held.lock, kNoId);
  waits_for(1, Wait::For::kThread, 0);  // the system refuses that
  EXPECT_EQ(circle_of(1), Threads());
}

TEST_F(WaitsTest, ARecursiveLockIsHeldUntilItIsGivenBackAsOften) {
  does(0, Operation::kAcquire, 7);
  does(0, Operation::kAcquire, 7);
  does(0, Operation::kRelease, 7);
  EXPECT_EQ(waits.held_by(0).size(), 1U);
  does(0, Operation::kRelease, 7);
  EXPECT_TRUE(waits.held_by(0).empty());
}

// There is a circle through a thread iff whoever waits for it, and for those, and so on, includes itself.
TEST_F(WaitsTest, AgreesWithTransitiveClosure) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    waits = {};
    constexpr uint32_t kThreads = 6;
    constexpr uint32_t kLocks = 8;
    for (uint32_t lock = 0; lock < kLocks; ++lock) {
      const bool is_shared = random() % 2 == 0;
      const unsigned holders = is_shared ? random() % 3 : random() % 2;
      for (unsigned i = 0; i < holders; ++i)
        does(static_cast<ThreadId>(random() % kThreads),
             is_shared ? Operation::kAcquireShared : Operation::kAcquire, lock);
    }
    std::vector<std::set<ThreadId>> after(kThreads);
    for (ThreadId thread = 0; thread < kThreads; ++thread) {
      if (random() % 4 == 0) continue;
      const auto what = random() % 2 == 0 ? Wait::For::kLock : Wait::For::kSharedLock;
      const auto lock = static_cast<uint32_t>(random() % kLocks);
      waits_for(thread, what, lock);
      for (ThreadId other = 0; other < kThreads; ++other)
        for (const TakenLock& taken : waits.held_by(other))
          if (taken.lock == lock && (!taken.is_shared || what == Wait::For::kLock))
            after[thread].insert(other);
    }
    for (ThreadId first = 0; first < kThreads; ++first) {
      std::set<ThreadId> reached = after[first];
      for (uint32_t step = 0; step < kThreads; ++step)
        for (const ThreadId thread : std::set<ThreadId>(reached))
          reached.insert(after[thread].begin(), after[thread].end());
      const Threads circle = circle_of(first);
      EXPECT_EQ(!circle.empty(), reached.contains(first));
      for (std::size_t i = 0; i < circle.size(); ++i)
        EXPECT_TRUE(after[circle[i]].contains(circle[(i + 1) % circle.size()]));
    }
  }
}

}  // namespace
}  // namespace heddle
