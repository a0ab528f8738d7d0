// What a calm program need not tell.
//
// A block that takes nothing after it first gave something back is in order whatever the others do, and a
// program made of such blocks has no violation to look for (docs/design/sieve.md). When the monitor has seen
// nothing else for long, it calls the program *calm*: from then on the threads look themselves whether their
// blocks are of that kind, and tell neither blocks nor locks, except locks taken in an order that is new.
//
// The first block that takes something after it gave something ends the calm, for good; so does one that uses
// atomics, a race or a deterministic block. Outside of blocks atomics may be used. From there on all is told
// again, and what was not told matters only where a block is open that gave something before:
// runtime/spans.h.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/tell.h"
#include "trace/event.h"

namespace heddle::runtime {

struct Thread;

// Who left something for others, and where.
struct Giver {
  static constexpr uint32_t kNobody = ~uint32_t{0};
  static constexpr uint32_t kSomebody = kNobody - 1;
  uint32_t stream = kSomebody;
  uint32_t context = 0;
  const void* pc = nullptr;
};

// What the thread's outermost block first gave back, and whether it has come back. Followed until the calm is
// over, and in blocks that were open then.
struct Giving {
  static constexpr uint32_t kNoSpan = ~uint32_t{0};

  uint64_t time = 0;    // of the thread; 0: there is no block, or it has given nothing
  uint32_t blocks = 0;  // that the thread was in then, and has not left since
  Operation operation = Operation::kNested;
  const void* object = nullptr;
  const void* pc = nullptr;
  uint32_t context = 0;
  uint32_t span = kNoSpan;                       // its place among those that were open when the calm ended
  bool is_told = false;                          // that it has come back
  bool is_blurred = false;                       // clocks may show more than what depends on it
  Giver back_from = {.stream = Giver::kNobody};  // a thread that knew of it
};

bool is_calm();
// Somebody has found it so. Before that, all is told though the monitor asks for less.
extern std::atomic<bool> has_calm_begun;

// How many threads are in a block that has given something. In parts, so that threads need not share a line
// of the cache.
struct alignas(64) Givers {
  static constexpr unsigned kParts = 8;
  std::atomic<uint32_t> number{0};
};
extern Givers givers[Givers::kParts];
// While there is none, nothing can depend on what a block that is open gave.
inline bool any_has_given() {
  for (const Givers& part : givers)
    if (part.number.load(std::memory_order_relaxed) != 0) return true;
  return false;
}

// The calling thread has taken the lock, or is about to give it back, which another thread may have: tells it
// if it must be told.
void tell_lock_taken(Operation operation, const void* lock, const void* pc, uint32_t extra,
                     uint32_t context = Told::kNow);
void tell_lock_given_back(Operation operation, const void* lock, const void* pc, bool is_others);

// Whether the calling thread need not tell of an atomic operation that is in no race, nor of what orders it
// with others (kSync): it is in no block, and all is calm.
bool keeps_outside_of_blocks(Thread& thread);

// The thread is about to tell this.
void follow(Thread& thread, uint8_t operation, const void* object, const void* pc);

// The thread is in no block, or in one that begins here.
void forget_given(Thread& thread);

}  // namespace heddle::runtime
