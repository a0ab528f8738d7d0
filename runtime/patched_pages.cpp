// When pages have patches.
#include "runtime/memory.h"
#include "runtime/numbers.h"
#include "runtime/patches.h"
#include "runtime/sweep.h"

namespace heddle::runtime {

uint64_t* patches_by_page = nullptr;
bool has_patches = false;

namespace {

// Some cells may be accessed one by one before the series come that are worth it.
constexpr int32_t kFirstCredit = 256;
// Patches that so many series came to have been worth while.
constexpr uint32_t kWorthWhile = 64;

constinit SpinLock lock;      // for what follows
Patches* no_pages = nullptr;  // serve no page
constexpr std::size_t kAtOnce = std::size_t{1} << 16;

Patches* take_some() {
  const Locked locked(lock);
  if (no_pages == nullptr) {
    auto* const memory = reinterpret_cast<char*>(allocate(kAtOnce));
    // Only a sweep sees that nothing is known of a page any more, and takes its patches away. A program that
    // maps memory at ever new places may use few numbers.
    hasten_sweep(kAtOnce / sizeof(Entry));
    for (std::size_t i = 0; i < kAtOnce / sizeof(Patches); ++i) {
      auto* const patches = new (memory + i * sizeof(Patches)) Patches;
      patches->next = no_pages;
      no_pages = patches;
    }
  }
  Patches* const patches = no_pages;
  no_pages = patches->next;
  return patches;
}

void give_back(Patches* patches) {
  const Locked locked(lock);
  patches->next = no_pages;
  no_pages = patches;
}

void fill(CellSet& set) {
  for (uint64_t& word : set.words) word = ~uint64_t{0};
}

// Under their lock. The page has no patches then.
void leave_page(Patches& patches, uint64_t waiting) {
  __atomic_store_n(patches_by_page + patches.page, waiting, __ATOMIC_RELEASE);
  patches.page = Patches::kNoPage;
}

// Unless somebody else changes the owner.
bool begin_in(Patches& patches, const Thread& thread, uint64_t page) {
  uint32_t owner = __atomic_load_n(owners + page, __ATOMIC_ACQUIRE);
  if (owner != 0 && owner != thread.serial && owner != kEverybody) return false;
  if (!__atomic_compare_exchange_n(owners + page, &owner, kChanging, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED))
    return false;
  if (owner == kEverybody) wait_until_left(page);
  // Who is late, and takes them for those of a page that they have left, has the lock for a moment. It may be
  // at this page, so it was waited for first.
  const Locked locked(patches.lock);
  patches.used = 0;
  patches.user = owner == kEverybody ? kEverybody : thread.serial;
  patches.credit = kFirstCredit;
  patches.series = 0;
  patches.times = Waiting::times(patches_by_page[page]);
  patches.page = page;
  if (owner == 0) {
    // Nothing is known of it, which is the same for all cells: they need no memory.
    owned_pages[__atomic_fetch_add(&owned_count, 1, __ATOMIC_RELAXED)] = static_cast<uint32_t>(page);
    patches.used = 1;
    patches.states[0] = Cell();
    fill(patches.cells[0]);
  }
  __atomic_store_n(patches_by_page + page, reinterpret_cast<uint64_t>(&patches), __ATOMIC_RELEASE);
  __atomic_store_n(owners + page, kPatched, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

void reserve_patches(bool has_barrier) {
  has_patches = has_barrier;
  patches_by_page = static_cast<uint64_t*>(
      reserve(sizeof(uint64_t) << (kAddressBits - kPageBits), "the states of pages in loops"));
}

void begin_patches(Thread& thread, uint64_t page) {
  sweep_if_due();  // long before the next stretch, maybe
  Patches* const patches = take_some();
  const Settling now;
  if (!begin_in(*patches, thread, page)) give_back(patches);
}

void end_patches(Thread& thread, uint64_t page) {
  Patches* ended = nullptr;
  {
    const AtPatches patches(page);
    if (!patches) return;
    take_all_out(*patches);
    const bool were_worth_while = patches->series >= kWorthWhile;
    const uint32_t times = patches->times + 1 < Waiting::kMostTimes ? patches->times + 1 : patches->times;
    ended = &*patches;
    leave_page(*patches, Waiting::after(were_worth_while ? patches->times / 2 : times));
    __atomic_store_n(owners + page, patches->user == thread.serial ? thread.serial : kEverybody,
                     __ATOMIC_RELEASE);
  }
  give_back(ended);
}

void end_empty_patches(uint64_t page) {
  Patches* const patches = patches_of(page);
  if (patches == nullptr) return;
  {
    const Locked locked(patches->lock);
    leave_page(*patches, 0);
  }
  give_back(patches);
}

void unlock_patches() {
  lock.unlock();
  no_pages = nullptr;
}

void drop_patches(uint64_t page) {
  Patches* const patches = patches_of(page);
  if (patches == nullptr) return;
  patches->lock.unlock();
  leave_page(*patches, 0);
  give_back(patches);
}

}  // namespace heddle::runtime
