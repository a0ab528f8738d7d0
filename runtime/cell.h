// Finding and changing the state of memory (runtime/layout.h).
#pragma once

#include <cstdint>

#include "runtime/ownership.h"
#include "runtime/sole_changer.h"
#include "runtime/thread.h"

namespace heddle::runtime {

[[gnu::always_inline]] inline Cell* cell_of(const void* address) {
  const auto place = reinterpret_cast<uint64_t>(address) & kAddressMask & ~uint64_t{7};
  return reinterpret_cast<Cell*>(heddle_thread_state.shadow + 2 * place);
}

// Puts `to` in the place of `from`, if nobody else may do so now.
[[gnu::always_inline]] inline void change_alone(Cell* cell, Cell from, Cell to) {
  *const_cast<volatile uint64_t*>(&cell->read) = to.read;
  if (from.write != to.write) *const_cast<volatile uint64_t*>(&cell->write) = to.write;
}

// The same among others; false: it has become something else.
[[gnu::always_inline]] inline bool exchange_shared(Cell* cell, Cell from, Cell to) {
  bool done;
  asm volatile("lock cmpxchg16b %1"
               : "=@ccz"(done), "+m"(*cell), "+a"(from.read), "+d"(from.write)
               : "b"(to.read), "c"(to.write)
               : "memory");
  return done;
}

// While it lives, the thread is at the page of the address and knows whether it owns it. If the page is
// settled, there is no sweep either: only then may numbers be used that do not stand for the present stretch.
class AtPage {
 public:
  [[gnu::always_inline]] AtPage(Thread& thread, const void* address) : thread_(thread) {
    const uint64_t page = page_of(address);
    thread_.page = page + 1;
    asm volatile("" ::: "memory");
    owner_ = *const_cast<const volatile uint32_t*>(owners + page);
    asm volatile("" ::: "memory");  // what is read below is as new as the owner
  }
  [[gnu::always_inline]] ~AtPage() {
    asm volatile("" ::: "memory");
    thread_.page = 0;
  }
  AtPage(const AtPage&) = delete;
  AtPage& operator=(const AtPage&) = delete;

  [[gnu::always_inline]] bool is_settled() const { return owner_ == thread_.serial || owner_ == kEverybody; }

  // Numbers may be about to change their meaning (Pause).
  [[gnu::always_inline]] bool is_paused() const { return owner_ >= kFirstPaused && owner_ < kPatched; }

  // Its cells may be in patches (runtime/patches.h), and are changed by whoever is at these.
  [[gnu::always_inline]] bool is_patched() const { return owner_ == kPatched; }

  [[gnu::always_inline]] bool is_everybodys() const { return owner_ == kEverybody; }

  [[gnu::always_inline]] bool is_nobodys() const { return owner_ == 0; }

  // The same, by whoever may do it now.
  [[gnu::always_inline]] bool exchange(Cell* cell, Cell from, Cell to) const {
    if (owner_ != kEverybody) {
      change_alone(cell, from, to);
      return true;
    }
    const SoleChanger::Word* const word = SoleChanger::word_of(thread_.page - 1);
    const uint32_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
    return exchange_shared(cell, from, to) &&
           (SoleChanger::was_nobody(word, before) || SoleChanger::is_kept(word, cell, to));
  }

  // At a page that is everybody's: the cell becomes what others find to be done already, and leave as it is.
  // So there must be nobody who would write over it.
  [[gnu::always_inline]] bool exchange_as_sole(Cell* cell, Cell from, Cell to) const {
    for (;;) {
      const SoleChanger changer(thread_.page - 1, true);
      if (changer.is_sole()) return exchange_shared(cell, from, to);
      SoleChanger::wait_for(SoleChanger::word_of(thread_.page - 1));
    }
  }

 private:
  Thread& thread_;
  uint32_t owner_;
};

}  // namespace heddle::runtime
