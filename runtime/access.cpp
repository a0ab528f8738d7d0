// The slow path of an access: the thread has not done this in its present stretch. Compiled without vector
// registers and with as few others as can be, so that callers need not save theirs; what is rare goes on in
// rare_access.cpp.
#include <cstdint>

#include "runtime/cell.h"
#include "runtime/rare_access.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// Word is uint64_t for 8 bytes, uint32_t for the 4 bytes of half a cell.
template <class Word>
HEDDLE_INLINE Word part_of(uint64_t words, unsigned shift) {
  return static_cast<Word>(words >> shift);
}
template <class Word>
HEDDLE_INLINE uint64_t with_part(uint64_t words, Word part, unsigned shift) {
  if constexpr (sizeof(Word) == 8) return part;
  return (words & ~(uint64_t{0xFFFFFFFF} << shift)) | uint64_t{part} << shift;
}
template <class Word>
HEDDLE_INLINE unsigned shift_of(const void* address) {
  return sizeof(Word) == 8 ? 0 : static_cast<unsigned>(reinterpret_cast<uint64_t>(address) & 4) * 8;
}
HEDDLE_INLINE uint64_t whole(uint64_t word) { return word; }
HEDDLE_INLINE uint64_t whole(uint32_t word) { return twice(word); }

// Whether all that the word stands for is one stretch, ordered before now.
HEDDLE_INLINE bool is_ordered(const Thread& thread, uint32_t word) {
  if (word == 0) return true;
  const Entry entry = entries[number_of(word)];
  return entry.kind() == Entry::Kind::kStretch && thread.is_before(entry);
}
HEDDLE_INLINE bool is_ordered(const Thread& thread, uint64_t words) {
  const auto low = static_cast<uint32_t>(words);
  const auto high = static_cast<uint32_t>(words >> 32);
  return is_ordered(thread, low) && (low == high || is_ordered(thread, high));
}

// Looks it up and remembers it.
template <class Word>
HEDDLE_INLINE bool learn(Thread& thread, Word before) {
  uint64_t& known = thread.ordered[before % Thread::kOrdered];
  if (before == 0 || known == whole(before)) return true;
  if (!is_ordered(thread, before)) return false;
  known = whole(before);
  return true;
}

[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS void start_stretch() {
  begin_stretch(*static_cast<Thread*>(heddle_thread_state.thread));
}

// What this comes to is not known yet.
template <class Word, bool kIsWrite>
[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS void look_up(const void* address, const void* caller,
                                                      const void* pc) {
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const auto stamp = static_cast<Word>(heddle_thread_state.stamp);
  Cell* const cell = cell_of(address);
  const unsigned shift = shift_of<Word>(address);
  {
    const AtPage page(thread, address);
    const Cell old = *cell;
    const Word write = part_of<Word>(old.write, shift);
    const Word read = part_of<Word>(old.read, shift);
    if (page.is_settled() && (write == stamp || learn(thread, write)) &&
        (read == stamp || learn(thread, read))) {
      const Word new_write = kIsWrite ? stamp : write;
      thread.change_of(kIsWrite, read, write) = {heddle_thread_state.stamp + kIsWrite,
                                                 {whole(read), whole(write)},
                                                 {whole(stamp), whole(new_write)}};
      if (page.exchange(cell, old,
                        {with_part(old.read, stamp, shift), with_part(old.write, new_write, shift)})) {
        thread.remember(address, sizeof(Word), kIsWrite, pc);
        return;
      }
    }
  }
  rare_access(address, sizeof(Word) | (kIsWrite ? kWrites : 0), caller, pc);
}

template <class Word, bool kIsWrite>
HEDDLE_INLINE void access(const void* address, const void* caller, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  if (heddle_thread_state.stamp == kNoStamp) start_stretch();
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  Cell* const cell = cell_of(address);
  const unsigned shift = shift_of<Word>(address);
  {
    const AtPage page(thread, address);
    const Cell old = *cell;
    const Word write = part_of<Word>(old.write, shift);
    const Word read = part_of<Word>(old.read, shift);
    const Thread::Change& change = thread.change_of(kIsWrite, read, write);
    if (change.from.read == whole(read) && change.from.write == whole(write) &&
        change.stamp == heddle_thread_state.stamp + kIsWrite && page.is_settled()) {
      const Cell fresh = {with_part(old.read, static_cast<Word>(change.to.read), shift),
                          with_part(old.write, static_cast<Word>(change.to.write), shift)};
      if (!kIsWrite) heddle_thread_state.group = change.to.read;
      if (page.exchange(cell, old, fresh)) {
        thread.remember(address, sizeof(Word), kIsWrite, pc);
        return;
      }
    }
  }
  look_up<Word, kIsWrite>(address, caller, pc);
}

// `count` times 8 bytes, each at the start of a cell.
template <bool kIsWrite>
HEDDLE_INLINE void access_cells(uint64_t address, uint64_t count, uint64_t step, const void* caller,
                                const void* pc) {
  if (heddle_thread_state.thread == nullptr || count == 0) return;
  if (heddle_thread_state.stamp == kNoStamp) start_stretch();
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const uint64_t stamp = heddle_thread_state.stamp;
  thread.remember(reinterpret_cast<const void*>(address), 8, kIsWrite, pc);
  Thread::Change& recent = thread.recent[kIsWrite];
  if (recent.stamp != stamp) recent = {stamp, {stamp, stamp}, {stamp, stamp}};
  Cell from = recent.from;
  Cell to = recent.to;
  while (count > 0) {
    // As far as the page goes and nothing new comes up.
    const void* const here = reinterpret_cast<const void*>(address);
    const uint64_t page_end = (address | ((uint64_t{1} << kPageBits) - 1)) + 1;
    Cell old = {};
    {
      const AtPage page(thread, here);
      Cell* cell = cell_of(here);
      const bool is_settled = page.is_settled();
      for (; count > 0 && address < page_end; --count, address += step, cell += step / 8) {
        old = *cell;
        if (kIsWrite ? old.write == stamp : old.read == stamp || old.read == heddle_thread_state.group)
          continue;
        if (!(old == from) || !is_settled || !page.exchange(cell, old, to)) break;
      }
    }
    if (count == 0) return;
    if (address >= page_end) continue;
    access<uint64_t, kIsWrite>(reinterpret_cast<const void*>(address), caller, pc);
    const Thread::Change& change = thread.change_of(kIsWrite, old.read, old.write);
    if (change.from == old && change.stamp == stamp + kIsWrite) {
      recent.from = from = old;
      recent.to = to = change.to;
    }
    --count;
    address += step;
  }
}

template <bool kIsWrite>
HEDDLE_INLINE void access_range(uint64_t address, uint64_t size, const void* caller, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  if (address % 8 == 0) {
    access_cells<kIsWrite>(address, size / 8, 8, caller, pc);
    address += size & ~uint64_t{7};
    size &= 7;
  }
  if (size > 0)
    rare_access(reinterpret_cast<const void*>(address), size | (kIsWrite ? kWrites : 0), caller, pc);
}

template <bool kIsWrite>
HEDDLE_INLINE void access_series(uint64_t address, uint64_t count, int64_t step, uint64_t size,
                                 const void* caller, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  if (step < 0) {
    address += static_cast<uint64_t>(step) * (count - 1);
    step = -step;
  }
  const auto distance = static_cast<uint64_t>(step);
  if (distance <= size) return access_range<kIsWrite>(address, distance * (count - 1) + size, caller, pc);
  if ((address | distance | size) % 8 == 0) {
    for (uint64_t part = 0; part < size; part += 8)
      access_cells<kIsWrite>(address + part, count, distance, caller, pc);
    return;
  }
  for (; count > 0; --count, address += distance) access_range<kIsWrite>(address, size, caller, pc);
}

// One or two bytes: those of the present stretch join the others.
template <bool kIsWrite>
HEDDLE_INLINE void few_bytes(const void* address, unsigned size, const void* caller, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  if (heddle_thread_state.stamp == kNoStamp) start_stretch();
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  Cell* const cell = cell_of(address);
  const auto low = static_cast<unsigned>(reinterpret_cast<uint64_t>(address) & 7);
  const unsigned shift = (low & 4) * 8;
  const uint32_t bytes = ((1U << size) - 1) << (kNumberBits + (low & 3));
  const uint32_t number = number_of(static_cast<uint32_t>(heddle_thread_state.stamp));
  {
    const AtPage page(thread, address);
    const Cell old = *cell;
    const auto write = part_of<uint32_t>(old.write, shift);
    const auto read = part_of<uint32_t>(old.read, shift);
    const bool is_my_write = number_of(write) == number;
    const bool is_my_read = number_of(read) == number;
    if constexpr (kIsWrite) {
      if (is_my_write && (write & bytes) == bytes) return;
    } else {
      if ((is_my_read || number_of(read) == number_of(static_cast<uint32_t>(heddle_thread_state.group))) &&
          (read & bytes) == bytes)
        return;
    }
    // What is replaced as a whole, or nothing yet.
    const auto fits = [&](uint32_t word) {
      return word == 0 || ((word & kAllBytes & ~bytes) == 0 && is_ordered(thread, word));
    };
    const bool write_fits = is_my_write || fits(write) || (!kIsWrite && is_ordered(thread, write));
    if (page.is_settled() && write_fits && (is_my_read || fits(read))) {
      const uint32_t mine = number | bytes;
      const uint32_t new_read = is_my_read ? read | bytes : mine;
      const uint32_t new_write = kIsWrite ? (is_my_write ? write | bytes : mine) : write;
      if (page.exchange(cell, old,
                        {with_part(old.read, new_read, shift), with_part(old.write, new_write, shift)})) {
        thread.remember(address, size, kIsWrite, pc);
        return;
      }
    }
  }
  rare_access(address, size | (kIsWrite ? kWrites : 0), caller, pc);
}

}  // namespace

#define HEDDLE_SLOW_PATH extern "C" HEDDLE_KEEPS_REGISTERS __attribute__((visibility("default"))) void
#define HEDDLE_HERE __builtin_return_address(0)

// The names that the compiler plug-in calls: heddle_read1, heddle_write_series, …
#define HEDDLE_SLOW_PATHS(kind, is_write)                                                             \
  HEDDLE_SLOW_PATH heddle_##kind##1(const void* a, const void* caller) {                              \
    few_bytes<is_write>(a, 1, caller, HEDDLE_HERE);                                                   \
  }                                                                                                   \
  HEDDLE_SLOW_PATH heddle_##kind##2(const void* a, const void* caller) {                              \
    few_bytes<is_write>(a, 2, caller, HEDDLE_HERE);                                                   \
  }                                                                                                   \
  HEDDLE_SLOW_PATH heddle_##kind##4(const void* a, const void* caller) {                              \
    access<uint32_t, is_write>(a, caller, HEDDLE_HERE);                                               \
  }                                                                                                   \
  HEDDLE_SLOW_PATH heddle_##kind##8(const void* a, const void* caller) {                              \
    access<uint64_t, is_write>(a, caller, HEDDLE_HERE);                                               \
  }                                                                                                   \
  HEDDLE_SLOW_PATH heddle_##kind##_range(const void* a, uint64_t size, const void* caller) {          \
    access_range<is_write>(reinterpret_cast<uint64_t>(a), size, caller, HEDDLE_HERE);                 \
  }                                                                                                   \
  HEDDLE_SLOW_PATH heddle_##kind##_series(const void* a, uint64_t count, int64_t step, uint64_t size, \
                                          const void* caller) {                                       \
    access_series<is_write>(reinterpret_cast<uint64_t>(a), count, step, size, caller, HEDDLE_HERE);   \
  }

HEDDLE_SLOW_PATHS(read, false)
HEDDLE_SLOW_PATHS(write, true)

}  // namespace heddle::runtime
