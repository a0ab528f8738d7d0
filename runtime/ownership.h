// Who may change the state of a page of memory how.
//
// A locked instruction on every first access to memory would cost more than all the rest of the check. Most
// pages are used by one thread at a time, so each has an owner, who changes its state with plain stores. When
// another thread comes, the page becomes everybody's, and all change it with compare-and-exchange. Only the
// page of a thread that has ended becomes the other's.
//
// The owner announces the page it is at (Thread::page) before it looks whether it still owns it. Whoever
// takes the page away first says so, then makes every thread pass a memory barrier (membarrier(2)), then
// waits until the owner is no longer at the page. So the owner needs no barrier of its own.
//
// In the same way all pages are taken away from all threads for a while (Pause).
#pragma once

#include <cstdint>

#include "runtime/layout.h"

namespace heddle::runtime {

inline constexpr unsigned kPageBits = 12;
inline constexpr uint32_t kEverybody = 0xFFFFFFFF;
inline constexpr uint32_t kChanging = 0xFFFFFFFE;
inline constexpr uint32_t kPatched = 0xFFFFFFFD;  // whoever has the lock of its patches (runtime/patches.h)
inline constexpr uint32_t kFirstPaused = uint32_t{1}
                                         << 30;  // while all are taken away, from here to kPatched

// By page: 0 for nobody, a thread's serial number, kEverybody, kPatched or kChanging.
extern uint32_t* owners;
extern uint32_t* owned_pages;  // all that have one
extern uint64_t owned_count;

void reserve_owners();
// Afterwards the page was, for a moment at least, the thread's or everybody's.
struct Thread;
void settle(Thread& thread, uint64_t page);

// While it lives, owners may be changed: nobody pauses. The thread is at no page.
class Settling {
 public:
  Settling();
  ~Settling();
  Settling(const Settling&) = delete;
  Settling& operator=(const Settling&) = delete;
};

// Nobody is at the page, or who is has seen what the caller did before.
void wait_until_left(uint64_t page);

// While it lives, no page is settled for anybody: the state of memory does not change, except to nothing. At
// most one at a time, and only if the system can do it (can_pause). No thread comes or goes meanwhile
// (threads_lock).
bool can_pause();
// If so: every thread passes a memory barrier.
void pass_barrier_everywhere();
class Pause {
 public:
  Pause();
  ~Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

  // Every page that has an owner. It loses it when `keep(page)` says no.
  template <class Keep>
  void for_each_page(Keep keep) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < owned_count; ++i) {
      const uint32_t page = owned_pages[i];
      if (keep(page)) {
        owned_pages[kept++] = page;
      } else {
        __atomic_store_n(owners + page, 0, __ATOMIC_RELAXED);
      }
    }
    owned_count = kept;
  }
};
void wait_while_paused();

// While it lives, no other thread is at the page, if that was everybody's. Only if the system can do it.
class AlonePage {
 public:
  explicit AlonePage(uint64_t page);
  ~AlonePage();
  AlonePage(const AlonePage&) = delete;
  AlonePage& operator=(const AlonePage&) = delete;

  bool is_alone() const { return is_alone_; }

 private:
  uint64_t page_;
  bool is_alone_;
};

// In the child after a fork, when there was no pause: those who were changing owners are gone.
void give_pages_to_everybody();

[[gnu::always_inline]] inline uint64_t page_of(const void* address) {
  return (reinterpret_cast<uint64_t>(address) & kAddressMask) >> kPageBits;
}

}  // namespace heddle::runtime
