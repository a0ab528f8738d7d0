// Memory of programs that start many threads and make many locks one after the other, as a server does for
// its requests.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "checkers/atomicity.h"
#include "checkers/deadlock.h"
#include "checkers/forced_order.h"
#include "core/happens_before.h"

namespace {

std::size_t allocated = 0;  // bytes, by operator new and not given back

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  allocated += ::malloc_usable_size(memory);
  return memory;
}
void operator delete(void* memory) noexcept {
  allocated -= ::malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace heddle {
namespace {

constexpr ThreadId kMain = 0;
constexpr ThreadId kThreads = 20'000;

Event event(ThreadId thread, Operation operation, uint32_t object) {
  Event event;
  event.thread = thread;
  event.operation = operation;
  event.object = object;
  return event;
}

// Main forks each thread, which takes a lock and gives it back, and joins it. With a whole table for each
// thread it would take 1.6 GB.
template <class Order>
void run_threads(Order take) {
  for (ThreadId thread = 1; thread <= kThreads; ++thread) {
    take(event(kMain, Operation::kFork, thread));
    take(event(thread, Operation::kAcquire, 0));
    take(event(thread, Operation::kRelease, 0));
    take(event(kMain, Operation::kJoin, thread));
  }
}

TEST(ThreadMemory, HappensBefore) {
  const std::size_t before = allocated;
  HappensBefore order;
  run_threads([&](const Event& event) { order.synchronize(event); });
  EXPECT_LT(allocated - before, std::size_t{50'000'000});
  // Each thread has seen all before it, main all of them; and an ended one still tells what it knew.
  const ThreadId late = kThreads + 1;
  EXPECT_FALSE(order.clock(late).knows(Epoch(1, 1)));
  order.synchronize(event(late, Operation::kJoin, kThreads / 2));
  for (ThreadId thread = 1; thread <= kThreads; ++thread) {
    ASSERT_TRUE(order.clock(kMain).knows(Epoch(thread, 2)));
    ASSERT_EQ(order.clock(late).knows(Epoch(thread, 1)), thread <= kThreads / 2);
  }
}

TEST(ThreadMemory, ForcedOrder) {
  const std::size_t before = allocated;
  LocksetTable locksets;
  HeldLocks held(locksets);
  ForcedOrder order(held);
  run_threads([&](const Event& event) {
    order.meet(event.thread);
    order.update(event);
  });
  EXPECT_LT(allocated - before, std::size_t{50'000'000});
  EXPECT_TRUE(order.clock(kMain).knows(Epoch(kThreads / 2, 1)));
}

// In each round a thread makes a lock, takes it while it has another, and the other way round. Deadlock
// searches and atomicity remembers; with 3 KB for each lock it would take 300 MB.
TEST(LockMemory, LocksThatEnd) {
  constexpr uint32_t kGlobal = 0;
  constexpr uint32_t kOther = 3;
  constexpr int kRounds = 100'000;
  Names names;
  for (const char* const thread : {"main", "T1"}) names.table(Space::kThread).append(thread);
  for (const char* const lock : {"global", "node", "node#2", "other"}) names.table(Space::kLock).append(lock);
  Findings findings;
  const CheckerOptions options{.recent_events = 0};
  for (const CheckerEntry* entry : {&kDeadlockChecker, &kAtomicityChecker}) {
    const auto checker = entry->make({names, findings, options});
    std::size_t before = 0;
    uint32_t ended = 2;
    for (int round = 0; round < kRounds; ++round) {
      const auto thread = static_cast<ThreadId>(round % 2);
      const uint32_t node = ended == 1 ? 2 : 1;
      std::vector<Event> events;
      for (const auto& [first, second] : {std::pair(kGlobal, node), std::pair(node, kOther)}) {
        events.push_back(event(thread, Operation::kAcquire, first));
        events.push_back(event(thread, Operation::kAcquire, second));
        events.push_back(event(thread, Operation::kRelease, second));
        events.push_back(event(thread, Operation::kRelease, first));
      }
      checker->process({static_cast<EventIndex>(round) * 8, events, std::span(&ended, 1)});
      ended = node;
      if (round == kRounds / 10) before = allocated;
    }
    EXPECT_LT(allocated, before + 2'000'000) << entry->name;
  }
  EXPECT_TRUE(findings.list().empty());
}

}  // namespace
}  // namespace heddle
