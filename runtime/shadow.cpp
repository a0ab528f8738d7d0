#include "runtime/shadow.h"

#include <cstdint>

#include "runtime/calm.h"
#include "runtime/early_locks.h"
#include "runtime/layout.h"
#include "runtime/memory.h"
#include "runtime/ownership.h"
#include "runtime/patches.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

char* shadow_base = nullptr;

namespace {

// True when there was any state.
bool clear(uint64_t from, uint64_t to) {
  auto* const begin = reinterpret_cast<uint64_t*>(shadow_base + 2 * from);
  auto* const end = reinterpret_cast<uint64_t*>(shadow_base + 2 * to);
  uint64_t any = 0;
  for (uint64_t* word = begin; word < end; ++word) {
    any |= *word;
    *word = 0;
  }
  return any != 0;
}

bool clear_patched(Patches& patches, uint64_t from, uint64_t to) {
  const unsigned first = cell_in_page(from);
  const unsigned count = static_cast<unsigned>((to - from) / 8);
  bool any = false;
  for_each_state(patches, first, first + count, [&](const Cell& state) { any |= !(state == Cell()); });
  const auto* const cells = reinterpret_cast<const Cell*>(shadow_base + 2 * from);
  for (unsigned i = 0; i < count; ++i) any |= !(cells[i] == Cell());
  set_state(patches, {first, count, 1}, Cell());
  return any;
}

// In one page. Memory whose state nobody has touched stays without.
bool clear_in_page(uint64_t from, uint64_t to) {
  const uint64_t page = from >> kPageBits;
  if (owners[page] == 0) return false;
  if (const AtPatches patches(page); patches) return clear_patched(*patches, from, to);
  return clear(from, to);
}

template <class Visit>
void for_each_page(uint64_t first, uint64_t last, Visit visit) {
  while (first < last) {
    const uint64_t page_end = ((first >> kPageBits) + 1) << kPageBits;
    const uint64_t to = page_end < last ? page_end : last;
    visit(first, to);
    first = to;
  }
}

// True when anything was known of the memory.
bool forget_state(const void* memory, std::size_t size) {
  if (this_thread != nullptr) this_thread->forget_done();
  const auto first = reinterpret_cast<uint64_t>(memory) & kAddressMask & ~uint64_t{7};
  const auto last = ((reinterpret_cast<uint64_t>(memory) & kAddressMask) + size + 7) & ~uint64_t{7};
  bool had_state = false;
  if (last - first < kLargeMemory) {
    for_each_page(first, last, [&](uint64_t from, uint64_t to) { had_state |= clear_in_page(from, to); });
    return had_state;
  }
  for (uint64_t page = first >> kPageBits; page <= (last - 1) >> kPageBits && !had_state; ++page)
    had_state = owners[page] != 0;
  if (!had_state) return false;
  for_each_page(first, last, [](uint64_t from, uint64_t to) {
    if (const AtPatches patches(from >> kPageBits); patches) clear_patched(*patches, from, to);
  });
  clear_and_give_back(shadow_base + 2 * first, 2 * (last - first));
  return true;
}

}  // namespace

void reserve_shadow() {
  shadow_base = static_cast<char*>(reserve(uint64_t{2} << kAddressBits, "the state of the program's memory"));
}

void forget(const void* memory, std::size_t size, EndOfLife how, const void* pc) {
  if (shadow_base == nullptr || size == 0) return;
  const Inside inside;
  forget_locks(memory, size);
  const bool had_syncs = forget_syncs(memory, size);
  const bool had_state = forget_state(memory, size);
  if (this_thread == nullptr) return;
  if (!tells_all_of_stretch) how = kIsAnother;
  // What a calm program has done to its variables, nobody was told.
  if (how != kIsAnother || had_syncs || (had_state && !is_calm()))
    tell(*this_thread, {.operation = kToldFree, .address = memory, .pc = pc, .extra = how, .name = size});
}

bool follows_lives() { return is_parallel || tells_all_of_stretch; }

void begin_life(const void* memory, std::size_t size) {
  if (!follows_lives() || shadow_base == nullptr || memory == nullptr) return;
  const Inside inside;
  forget_state(memory, size);
  if (tells_all_of_stretch && this_thread != nullptr)
    tell(*this_thread, {.operation = kToldFree, .address = memory, .name = size});
}

}  // namespace heddle::runtime
