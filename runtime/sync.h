// What synchronization objects carry from one thread to another, by the object's address.
//
// A Sync ends with its object, or with the memory that the object lies in, and then serves another one. Its
// memory stays a Sync's, so whoever remembers where it was can look whether it still belongs to the object.
#pragma once

#include <cstdint>

#include "runtime/clock.h"
#include "runtime/spin_lock.h"

namespace heddle::runtime {

// Those who come to a barrier together. The first who goes on ends the phase: who comes then is in the next.
struct BarrierPhase {
  SpinLock lock;
  Gathered gathered;
  uint32_t waiting = 0;  // threads that have not gone on, and the barrier while it is its latest phase
  bool is_over = false;
};

struct Conflicts;

struct Sync {
  static constexpr uint32_t kSeveral = ~uint32_t{0};

  // What locks and atomic variables use comes first, in two or three lines of the cache.
  Sync* next = nullptr;               // with the same hash
  const void* address = nullptr;      // null: it has ended
  SpinLock lock;                      // for the members below
  bool is_held_alone = false;         // of a reader–writer lock
  bool is_guard = false;              // of a local variable that is initialized once
  uint32_t holder = 0;                // the stream, plus 1, of who has the lock alone; 0: not known
  uint32_t depth = 0;                 // how often it has
  uint32_t released_by = 0;           // the stream of that one, or of who had it since and added nothing
  const void* released_at = nullptr;  // the place in the code …
  uint32_t released_in = 0;           // … and the context
  std::atomic<uint64_t> left = 0;     // how often `released` and `gathered` have changed; begins no new life
  std::atomic<uint32_t> version = 0;  // of an atomic variable; odd while it may change
  std::atomic<uint32_t> uses = 0;     // operations on it that took the lock, twice; odd while there is one
  Published released;                 // by the last who had it alone: that thread knew all before
  Gathered gathered;                  // by those who shared it since

  Conflicts* conflicts = nullptr;            // of an atomic variable; null: none that matter
  BarrierPhase* phase = nullptr;             // of a barrier: the latest
  uint32_t openings = 0;                     // of a named semaphore
  uint32_t counted_by = 0;                   // of reference counts: the thread's serial number, or kSeveral
  std::atomic<bool> has_completion = false;  // a barrier with a function that the last to arrive runs
};

// For the calling thread; made when first asked for. Whoever has locked it finds it again with sync_at().
Sync& sync_at(const void* address);
Sync& lock_sync(const void* address);

// The calling thread has got the object, or is about to give it back; alone, or shared with others.
// acquired(): false when that is no news.
bool acquired(const void* object);
// The same of a mutex in a program that is told of no locks any more (Channel::is_quiet), where neither has
// anything to say to the other: only looked at, since to write there takes the memory away from other
// threads, each time. False: it has not been done, and acquired() or releasing() must do it.
bool acquired_without_news(const void* mutex);
bool releasing_without_news(const void* mutex);
// The same where who came first makes no difference to anybody: the thread depends on nobody then.
bool ordered_after(const void* object);
// Who has the lock alone: the stream, plus 1; 0: nobody, or it is not known.
uint32_t holder_of(const void* lock);
// How often the calling thread has it alone.
uint32_t depth_of(const void* lock);
void acquired_shared(const void* object);
// True: another thread has it. `pc` is for reports.
bool releasing(const void* object, const void* pc = nullptr);
void releasing_shared(const void* object);

// The calling thread changes reference counts: comes after all who did so before.
void counting(const void* counts);
// Whether others than the calling thread have: any of them might have dropped the last reference.
bool is_counted_by_others(const void* counts);

// The calling thread comes to the barrier, and goes on from it. The barrier may be destroyed as soon as one
// of its threads goes on, so the others keep hold of the phase.
BarrierPhase* arriving(const void* barrier);
void leaving(BarrierPhase* phase);

// A named semaphore was opened, or is about to be closed. True: by the last who has it open.
void opened(const void* semaphore);
bool closing(const void* semaphore);

void reserve_syncs();
// In the child after a fork: whoever had locked them is gone, and no other thread needs what they carry.
void forget_all_syncs();
void forget_sync(const void* object);
// All in this memory. False: there were none.
bool forget_syncs(const void* memory, std::size_t size);

// The same for reader–writer locks, which are given back by the same call whoever has them.
void acquired_alone(const void* lock);
struct Releasing {
  bool was_alone;
  bool is_others;  // another thread has it alone
};
Releasing releasing_alone_or_shared(const void* lock, const void* pc);

}  // namespace heddle::runtime
