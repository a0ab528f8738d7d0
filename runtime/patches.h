// The state of pages that loops go over.
//
// Where loops go over arrays, many cells of a page (runtime/cell.h) have the same state, and get the same new
// one together. Such a page is kept in *patches*: each is a state and the set of cells that have it. A series
// of accesses then asks what it comes to once for each patch it meets, not for each cell.
//
// A cell of the page is in one patch at most. If it is in one, its own words are zero and the patch says what
// its state is; if it is in none, they say so as ever. So nothing else need know of patches that only asks
// whether a word is one of its own: no word of a cell in a patch is. What looks at states, or changes them,
// first takes the cell out of its patch, or ends the patches of the page: every state goes back to its cells.
// Rules of their own, patches have none: docs/design/patches.md.
//
// Whoever is at a patched page has the lock of its patches. A page has patches as long as they are worth
// while: cells that are accessed one by one cost more there than elsewhere.
#pragma once

#include <cstdint>

#include "runtime/flow.h"
#include "runtime/ownership.h"
#include "runtime/registers.h"
#include "runtime/spin_lock.h"
#include "runtime/thread.h"

namespace heddle::runtime {

inline constexpr unsigned kCellsOfPage = 1U << (kPageBits - 3);

struct CellSet {
  static constexpr unsigned kWords = kCellsOfPage / 64;
  uint64_t words[kWords];
};

// Lives on when its page has no patches any more, and serves another one.
struct alignas(64) Patches {
  static constexpr unsigned kMost = 8;
  static constexpr uint64_t kNoPage = ~uint64_t{0};

  SpinLock lock;
  uint32_t used = 0;    // a bit for each patch
  uint32_t user = 0;    // the only thread that was ever here, or kEverybody
  int32_t credit = 0;   // cells that went together, without what the accesses cost
  uint32_t series = 0;  // that came here
  uint32_t times = 0;   // that the page had patches and they were not worth while
  uint64_t page = kNoPage;
  Patches* next = nullptr;  // of those that serve no page
  Cell states[kMost] = {};
  CellSet cells[kMost] = {};
};

// By page: its patches; or what it waits for to have some again (Waiting); or 0.
extern uint64_t* patches_by_page;

// Series that would have been worth patches and come before the page has some again: twice as many each time
// that they were not worth while. An odd number.
struct Waiting {
  static constexpr uint64_t kOnce = uint64_t{1} << 8;
  static constexpr unsigned kMostTimes = 16;

  static uint64_t after(unsigned times) { return (kOnce << times) | times << 1 | 1; }
  static unsigned times(uint64_t waiting) { return static_cast<unsigned>(waiting >> 1 & 0x7F); }
};

HEDDLE_INLINE Patches* patches_of(uint64_t page) {
  const uint64_t found = __atomic_load_n(patches_by_page + page, __ATOMIC_ACQUIRE);
  return found % 2 == 0 ? reinterpret_cast<Patches*>(found) : nullptr;
}

// While it lives, nobody else is at the patches of the page, if it has some. They do not end.
class AtPatches {
 public:
  HEDDLE_INLINE explicit AtPatches(uint64_t page) {
    Patches* const found = patches_of(page);
    if (found == nullptr) return;
    if (!found->lock.try_lock()) {
      auto wait = [&] { found->lock.lock(); };
      keep_registers(wait);
    }
    if (found->page == page) {
      patches_ = found;
    } else {
      found->lock.unlock();
    }
  }
  HEDDLE_INLINE ~AtPatches() {
    if (patches_ != nullptr) patches_->lock.unlock();
  }
  AtPatches(const AtPatches&) = delete;
  AtPatches& operator=(const AtPatches&) = delete;

  HEDDLE_INLINE explicit operator bool() const { return patches_ != nullptr; }
  HEDDLE_INLINE Patches& operator*() const { return *patches_; }
  HEDDLE_INLINE Patches* operator->() const { return patches_; }

 private:
  Patches* patches_ = nullptr;
};

HEDDLE_INLINE unsigned cell_in_page(uint64_t address) {
  return static_cast<unsigned>(address >> 3) % kCellsOfPage;
}

// So many cells in a row, or each `step` cells after the one before, of one page.
struct CellRow {
  unsigned first;  // in the page
  unsigned count;
  unsigned step;
};

// Only if the system has a barrier for them, and nobody follows data: who does looks at the words of cells
// (runtime/flow.cpp).
extern bool has_patches;

// A page is made one of patches for a series of so many cells of it, if it has proved worth while or may do
// so.
inline constexpr unsigned kWorthPatches = 32;
HEDDLE_INLINE bool may_have_patches(const Thread& thread, uint64_t page) {
  if (!has_patches || is_built_to_follow) return false;
  const uint32_t owner = owners[page];
  if (owner != 0 && owner != thread.serial && owner != kEverybody) return false;
  uint64_t when = __atomic_load_n(patches_by_page + page, __ATOMIC_RELAXED);
  if (when < Waiting::kOnce) return true;
  if (when % 2 != 0)
    __atomic_compare_exchange_n(patches_by_page + page, &when, when - Waiting::kOnce, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  return false;
}
// The thread is at no page.
void begin_patches(Thread& thread, uint64_t page);
// The states are those of the cells again. While Settling.
void end_patches(Thread& thread, uint64_t page);
// The same where no state says anything, while nobody may change states (Pause).
void end_empty_patches(uint64_t page);

// The accesses of a series, in one page that the thread is at and that is patched. False: not all are done,
// because one is in race, or is to be looked at by itself; the patches are to end.
HEDDLE_KEEPS_REGISTERS bool access_patches(Thread& thread, uint64_t page, CellRow row, bool writes);

// The cell's own words say what its state is, from now on. False: this is done too often, and the patches are
// to end.
HEDDLE_KEEPS_REGISTERS bool take_out(Patches& patches, unsigned cell, uint32_t user);
// The same of all cells, however often it is done.
HEDDLE_KEEPS_REGISTERS void take_all_out(Patches& patches);

// The cells have this state from now on, whatever they had before.
HEDDLE_KEEPS_REGISTERS void set_state(Patches& patches, CellRow row, Cell state);

// The states of the patches that some cells from one to another are in.
template <class Visit>
void for_each_state(Patches& patches, unsigned begin, unsigned end, Visit visit) {
  for (unsigned patch = 0; patch < Patches::kMost; ++patch) {
    if ((patches.used >> patch & 1) == 0) continue;
    bool is_any = false;
    for (unsigned cell = begin; cell < end && !is_any; ++cell)
      is_any = (patches.cells[patch].words[cell / 64] >> cell % 64 & 1) != 0;
    if (is_any) visit(patches.states[patch]);
  }
}

// Whether every cell of the page is in one of the patches.
inline bool has_all_cells(const Patches& patches) {
  uint64_t all = ~uint64_t{0};
  for (unsigned i = 0; i < CellSet::kWords; ++i) {
    uint64_t some = 0;
    for (uint32_t used = patches.used; used != 0; used &= used - 1)
      some |= patches.cells[__builtin_ctz(used)].words[i];
    all &= some;
  }
  return ~all == 0;
}

// `has_barrier`: can_pause().
void reserve_patches(bool has_barrier);
// In the child after a fork, where all that was done before is ordered before all to come.
void unlock_patches();
void drop_patches(uint64_t page);

}  // namespace heddle::runtime
