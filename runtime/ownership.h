// Who may change the state of a page of memory how.
//
// A locked instruction on every first access to memory would cost more than all the rest of the check. Most
// pages are used by one thread at a time, so each has an owner, who changes its state with plain stores. When
// another thread comes, the page becomes everybody's, and all change it with compare-and-exchange.
//
// The owner announces the page it is at (Thread::page) before it looks whether it still owns it. Whoever
// takes the page away first says so, then makes every thread pass a memory barrier (membarrier(2)), then
// waits until the owner is no longer at the page. So the owner needs no barrier of its own.
#pragma once

#include <cstdint>

#include "runtime/layout.h"

namespace heddle::runtime {

inline constexpr unsigned kPageBits = 12;
inline constexpr uint32_t kEverybody = 0xFFFFFFFF;
inline constexpr uint32_t kChanging = 0xFFFFFFFE;

extern uint32_t* owners;  // by page: 0 for nobody, a thread's serial number, kEverybody or kChanging

void reserve_owners();
// Afterwards the page was, for a moment at least, the thread's or everybody's.
struct Thread;
void settle(Thread& thread, uint64_t page);

[[gnu::always_inline]] inline uint64_t page_of(const void* address) {
  return (reinterpret_cast<uint64_t>(address) & kAddressMask) >> kPageBits;
}

}  // namespace heddle::runtime
