// A thread of the program, as the runtime knows it.
#pragma once

#include <cstdint>

#include "runtime/clock.h"
#include "runtime/layout.h"
#include "runtime/stretches.h"

namespace heddle::runtime {

// No word ever has this number with all bytes.
inline constexpr uint64_t kNoStamp = uint64_t{kAllBytes} << 32 | kAllBytes;

// What the thread did, in order: the newest entries only.
struct Memo {
  uint64_t what;   // address (44 bits), is it a write, size; or a stretch
  uint64_t where;  // pc
};

// The state of 8 bytes of the program's memory (runtime/layout.h).
struct alignas(16) Cell {
  uint64_t read;
  uint64_t write;

  friend bool operator==(Cell, Cell) = default;
};

struct Thread {
  // What an access makes of the state it finds, in the present stretch.
  struct Change {
    uint64_t stamp;  // of that stretch, plus 1 for a write
    Cell from;
    Cell to;
  };
  static constexpr unsigned kChangeBits = 7;
  static constexpr unsigned kOrdered = 32;
  volatile uint64_t page = 0;  // it is changing the state of, plus 1 (runtime/ownership.h)
  uint32_t serial = 0;         // no other thread has had it
  Memo* memos = nullptr;
  uint32_t memo = 0;       // how many there were
  Number next_number = 0;  // for the next stretch, up to last_number
  Number last_number = 0;
  Change changes[1U << kChangeBits] = {};
  Change recent[2] = {};  // what the last series of reads, of writes came to; the stamp as it is
  struct Layer {
    Number upper;
    uint32_t below;
    Number number;
  };
  static constexpr unsigned kLayers = 64;
  Layer layers[kLayers] = {};  // used of late
  uint64_t atomics_stamp = 0;  // the stretch whose atomic operations have atomics_number
  Number atomics_number = 0;
  uint64_t ordered[kOrdered] = {};  // words that are ordered before all this thread will do

  uint32_t slot = 0;
  uint64_t time = 1;
  Clock clock;
  Clock at_release_fence;     // what relaxed stores publish; empty without a release fence
  Clock until_acquire_fence;  // what relaxed loads have seen, to be learnt at the next acquire fence
  Times* shared = nullptr;    // the clock as last published; null: it has changed since

  static constexpr uint32_t kMemos = 1U << 13;

  void new_stretch() { heddle_thread_state.stamp = heddle_thread_state.group = kNoStamp; }

  [[gnu::always_inline]] void remember(uint64_t what, uint64_t where) {
    memos[memo++ % kMemos] = {what, where};
  }
  [[gnu::always_inline]] void remember(const void* address, unsigned size, bool writes, const void* pc) {
    remember(
        (reinterpret_cast<uint64_t>(address) & kAddressMask) | uint64_t{writes} << 44 | uint64_t{size} << 45,
        reinterpret_cast<uint64_t>(pc));
  }

  [[gnu::always_inline]] Change& change_of(bool writes, uint64_t read, uint64_t write) {
    const uint64_t hash = (read + 31 * write + static_cast<uint64_t>(writes)) * 0x9E3779B97F4A7C15;
    return changes[hash >> (64 - kChangeBits)];
  }
  [[gnu::always_inline]] bool is_before(Entry stretch) const {
    return stretch.slot() == slot || clock.covers(stretch.slot(), stretch.time());
  }

  Published publish();
  void acquire(const Published& other) {
    if (clock.join(other)) forget_shared();
  }
  void acquire(const Clock& other) {
    if (clock.join(other)) forget_shared();
  }

 private:
  void forget_shared() {
    if (shared != nullptr) shared->release();
    shared = nullptr;
  }
};

// The calling thread; null before it is known and after it has ended.
extern __thread Thread* this_thread __attribute__((tls_model("initial-exec")));

// From now on accesses are checked: there is a second thread.
void become_parallel();

void attach_main_thread();
Thread* make_thread();
extern Thread** threads_by_serial;
void attach(Thread* thread);  // to the calling one
void detach();                // it is at its end

[[gnu::always_inline]] inline uint64_t begin_stretch(Thread& thread) {
  if (thread.next_number == thread.last_number) {
    constexpr Number kAtOnce = 256;
    thread.next_number = take_numbers(kAtOnce);
    thread.last_number = thread.next_number + kAtOnce;
  }
  const Number number = thread.next_number++;
  entries[number] = Entry::stretch(thread.slot, thread.time);
  thread.remember(~uint64_t{0}, thread.time);
  return heddle_thread_state.stamp = twice(kAllBytes | number);
}

}  // namespace heddle::runtime
