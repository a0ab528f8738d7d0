// Memory of programs that start many threads one after the other, as a server does for its requests.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>

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

}  // namespace
}  // namespace heddle
