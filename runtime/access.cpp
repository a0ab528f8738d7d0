// The slow path of an access: the thread has not done this in its present stretch. Compiled without vector
// registers and with as few others as can be, so that callers need not save theirs; what is rare goes on in
// rare_access.cpp.
#include "runtime/access.h"

#include <cstdint>

#include "runtime/cell.h"
#include "runtime/few_bytes.h"
#include "runtime/note.h"
#include "runtime/open_groups.h"
#include "runtime/ordered.h"
#include "runtime/patches.h"
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

template <class Word>
HEDDLE_INLINE bool is_known_ordered(Thread& thread, Word before) {
  return before == 0 || thread.ordered_like(before) == whole(before);
}
// Looks it up and remembers it.
template <class Word>
HEDDLE_INLINE bool learn_ordered(Thread& thread, Word before) {
  if (is_known_ordered(thread, before)) return true;
  if (!is_ordered(thread, before)) return false;
  thread.ordered_like(before) = whole(before);
  return true;
}

// The compiler's own words for it are not to be had without vector registers.
template <class Data>
HEDDLE_INLINE void fetch(const Data* data) {
  asm volatile("prefetcht0 %0" : : "m"(*data));
}
// The same for what will be changed: no other core has it then, so that the change does not ask for it again.
template <class Data>
HEDDLE_INLINE void fetch_to_change(const Data* data) {
  asm volatile("prefetchw %0" : : "m"(*data));
}

struct Known {
  bool is_known;
  uint64_t read;  // what the words become
  uint64_t write;
};
// What the access makes of the state it finds, if that was looked up before.
//
// The word for reads is enough to know that all is ordered. A write puts itself among the readers; whoever
// reads after it without a race takes its place there, and whoever reads in race with it stands beside it. So
// if all that the word for reads stands for is before now, the writes are, too: clocks are transitive.
template <class Word, bool kIsWrite>
HEDDLE_INLINE Known known_after(Thread& thread, Word read, Word write) {
  const uint64_t stamp = heddle_thread_state.stamp;
  if (is_known_ordered(thread, read)) return {true, stamp, kIsWrite ? stamp : whole(write)};
  if (kIsWrite || !is_known_ordered(thread, write)) return {};
  const auto from = static_cast<uint32_t>(read);
  const Thread::Join& join = thread.join_of(from);
  return {whole(read) == twice(from) && join.from == from && join.stamp == static_cast<uint32_t>(stamp),
          twice(join.to), whole(write)};
}

[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS void start_stretch() {
  begin_stretch(*static_cast<Thread*>(heddle_thread_state.thread));
}

// The compiler takes it that everything lies where its type allows; not all programs see to that.
template <class Word>
HEDDLE_INLINE bool is_aligned(const void* address) {
  return reinterpret_cast<uint64_t>(address) % sizeof(Word) == 0;
}

// What this comes to is not known yet.
template <class Word, bool kIsWrite>
[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS void look_up(const void* address, const char* name,
                                                      const void* caller, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  if (!is_aligned<Word>(address))
    return rare_access(address, sizeof(Word) | (kIsWrite ? kWrites : 0), name, caller, pc);
  if (heddle_thread_state.stamp == kNoStamp) start_stretch();
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const auto stamp = static_cast<Word>(heddle_thread_state.stamp);
  Cell* const cell = cell_of(address);
  const unsigned shift = shift_of<Word>(address);
  {
    const AtPage page(thread, address);
    const Cell old = *cell;
    const Word write = part_of<Word>(old.write, shift);
    const Word read = part_of<Word>(old.read, shift);
    // Then it is after the writes, too (known_after).
    const bool is_after_reads = page.is_settled() && learn_ordered(thread, read);
    const auto readers = static_cast<uint32_t>(read);
    if (!kIsWrite && !is_after_reads && page.is_settled() && read == static_cast<Word>(twice(readers)) &&
        is_open_to(readers, sizeof(Word) == 8, false) && learn_ordered(thread, write)) {
      note(thread, address, sizeof(Word), name, caller, pc);
      return join_open_group(thread, readers, twice(static_cast<uint32_t>(stamp)));
    }
    if (is_after_reads) {
      note(thread, address, sizeof(Word) | (kIsWrite ? kWrites : 0), name, caller, pc);
      const Word new_write = kIsWrite ? stamp : write;
      if (page.exchange(cell, old,
                        {with_part(old.read, stamp, shift), with_part(old.write, new_write, shift)}))
        return;
    }
  }
  rare_access(address, sizeof(Word) | (kIsWrite ? kWrites : 0), name, caller, pc);
}

// What this comes to may be known: then it is done. False: it is not.
template <class Word, bool kIsWrite>
HEDDLE_INLINE bool try_access(const void* address, const void* caller, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return true;
  if (heddle_thread_state.stamp == kNoStamp) start_stretch();
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  Cell* const cell = cell_of(address);
  const unsigned shift = shift_of<Word>(address);
  {
    const AtPage page(thread, address);
    const Cell old = *cell;
    const Word write = part_of<Word>(old.write, shift);
    const Word read = part_of<Word>(old.read, shift);
    const Known known = known_after<Word, kIsWrite>(thread, read, write);
    if (known.is_known && page.is_settled() && thread.left_to_tell == 0) {
      const Cell fresh = {with_part(old.read, static_cast<Word>(known.read), shift),
                          with_part(old.write, static_cast<Word>(known.write), shift)};
      if (!kIsWrite && known.read != heddle_thread_state.stamp) heddle_thread_state.group = known.read;
      if (fresh == old) return true;  // it is among the readers already
      remember(thread, address, sizeof(Word) | (kIsWrite ? kWrites : 0), caller, pc);
      if (page.exchange(cell, old, fresh)) return true;
    }
  }
  return false;
}

// For a recording: each element is told, not the series as a whole.
template <bool kIsWrite>
[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS void access_each_cell(uint64_t address, uint64_t count,
                                                               uint64_t step, const char* name,
                                                               const void* caller, const void* pc) {
  for (; count > 0; --count, address += step) {
    const void* const here = reinterpret_cast<const void*>(address);
    const Cell old = *cell_of(here);
    const uint64_t stamp = heddle_thread_state.stamp;
    if (kIsWrite ? old.write == stamp : old.read == stamp || old.read == heddle_thread_state.group) continue;
    if (!try_access<uint64_t, kIsWrite>(here, caller, pc))
      look_up<uint64_t, kIsWrite>(here, name, caller, pc);
  }
}

// How many cells ahead the shadow is fetched: what follows a series is often the next one.
constexpr std::ptrdiff_t kAhead = 48;

// How many of a series come before the end of the page that it has come to.
HEDDLE_INLINE uint64_t count_before(uint64_t page_end, uint64_t address, uint64_t count, uint64_t step) {
  if (address + (count - 1) * step < page_end) return count;
  const auto left = static_cast<uint32_t>(page_end - address);
  if (step >= left) return 1;
  return step == 8 ? left / 8 : (left - 1) / static_cast<uint32_t>(step) + 1;
}
HEDDLE_INLINE CellRow row_of(uint64_t address, uint64_t count, uint64_t step) {
  return {cell_in_page(address), static_cast<unsigned>(count),
          count == 1 ? 1 : static_cast<unsigned>(step / 8)};
}

// `count` times 8 bytes, each at the start of a cell.
template <bool kIsWrite>
HEDDLE_INLINE void access_cells(uint64_t address, uint64_t count, uint64_t step, const char* name,
                                const void* caller, const void* pc) {
  if (heddle_thread_state.thread == nullptr || count == 0) return;
  if (tells_all_of_stretch) return access_each_cell<kIsWrite>(address, count, step, name, caller, pc);
  if (heddle_thread_state.stamp == kNoStamp) start_stretch();
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const uint64_t stamp = heddle_thread_state.stamp;
  const auto is_done = [&](const Cell& cell) {
    return kIsWrite ? cell.write == stamp : cell.read == stamp || cell.read == heddle_thread_state.group;
  };
  for (const Cell* cell = cell_of(reinterpret_cast<const void*>(address)); is_done(*cell); cell += step / 8) {
    if (--count == 0) return;
    address += step;
  }
  note_series(thread, reinterpret_cast<const void*>(address), count, step, kIsWrite ? kWrites : 0, name,
              caller, pc);
  uint64_t page_end = 0;
  while (count > 0) {
    // As far as the page goes and nothing new comes up.
    const void* const here = reinterpret_cast<const void*>(address);
    const bool is_new_page = address >= page_end;
    page_end = (address | ((uint64_t{1} << kPageBits) - 1)) + 1;
    const uint64_t fit = count_before(page_end, address, count, step);
    if (is_new_page && fit >= kWorthPatches && may_have_patches(thread, page_of(here)))
      patch_page(thread, here);
    bool is_settled = false;
    {
      const AtPage page(thread, here);
      is_settled = page.is_settled();
      if (page.is_patched() && access_patches(thread, page_of(here), row_of(address, fit, step), kIsWrite)) {
        count -= fit;
        address += fit * step;
        continue;
      }
      if (is_settled) {
        Cell* cell = cell_of(here);
        const bool are_many = page_end - address >= SoleChanger::kFew * step && count >= SoleChanger::kFew;
        const SoleChanger changer(page_of(here), are_many && page.is_everybodys());
        Cell from = {stamp, stamp};  // what was found last, and what it became
        Cell to = from;
        for (; count > 0 && address < page_end; --count, address += step, cell += step / 8) {
          fetch(cell + kAhead);
          const Cell old = *cell;
          if (is_done(old)) continue;
          if (!(old == from)) {
            const Known known = known_after<uint64_t, kIsWrite>(thread, old.read, old.write);
            if (!known.is_known) break;
            from = old;
            to = {known.read, known.write};
            if (!kIsWrite && known.read != stamp) heddle_thread_state.group = known.read;
          }
          if (!kIsWrite && to == old) continue;  // it is among the readers already
          if (changer.is_sole()) {
            change_alone(cell, old, to);
          } else if (!page.exchange(cell, old, to)) {
            break;
          }
        }
      }
    }
    if (count == 0) return;
    if (address >= page_end) continue;
    if (!is_settled) {
      // Before its state is read: that would give it a page of zeros, and the next write another one.
      settle_page(thread, here);
      continue;
    }
    const void* const next = reinterpret_cast<const void*>(address);
    if (!try_access<uint64_t, kIsWrite>(next, caller, pc))
      look_up<uint64_t, kIsWrite>(next, name, caller, pc);
    --count;
    address += step;
  }
}

// Less than 8 bytes, most often of one cell.
template <bool kIsWrite>
HEDDLE_INLINE void few_bytes(const void* address, unsigned size, const char* name, const void* caller,
                             const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  if (heddle_thread_state.stamp == kNoStamp) start_stretch();
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const bool is_in_cell = (reinterpret_cast<uint64_t>(address) & 7) + size <= 8;
  if (is_in_cell && try_part_of_cell<kIsWrite>(thread, address, size, caller, pc)) return;
  rare_access(address, size | (kIsWrite ? kWrites : 0), name, caller, pc);
}

template <bool kIsWrite>
HEDDLE_INLINE void access_range(uint64_t address, uint64_t size, const char* name, const void* caller,
                                const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  // What lies in front of the first whole cell, the cells, what lies behind them.
  uint64_t here = -address % 8 < size ? -address % 8 : size;
  while (size > 0) {
    if (here > 0) {
      few_bytes<kIsWrite>(reinterpret_cast<const void*>(address), static_cast<unsigned>(here), name, caller,
                          pc);
    } else {
      access_cells<kIsWrite>(address, size / 8, 8, name, caller, pc);
      here = size & ~uint64_t{7};
    }
    address += here;
    size -= here;
    here = size < 8 ? size : 0;
  }
}

// Passes over the elements all of whose cells the thread has accessed in its present stretch, as a loop
// inside another one finds them again and again.
template <bool kIsWrite>
HEDDLE_INLINE void pass_over_done(uint64_t& address, uint64_t& count, uint64_t step, uint64_t size) {
  const uint64_t stamp = heddle_thread_state.stamp;
  const uint64_t group = kIsWrite ? stamp : heddle_thread_state.group;
  const Cell* first = cell_of(reinterpret_cast<const void*>(address));
  for (; count > 0; --count, address += step, first += step / 8) {
    bool is_done = true;
    for (const Cell* cell = first; cell < first + size / 8; ++cell) {
      const uint64_t word = kIsWrite ? cell->write : cell->read;
      is_done &= (word == stamp) | (word == group);
    }
    if (!is_done) return;
  }
}

// Shorter ones are looked at faster than looked up.
constexpr uint64_t kLong = 256;

// Whether the thread has made all these accesses in its present stretch, as far as it remembers: nothing was
// cleared since, and who came between has found the race.
template <bool kIsWrite>
[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS bool is_remembered(const Thread& thread, uint64_t begin,
                                                            uint64_t end, uint64_t step, uint64_t size) {
  for (const Thread::Done& done : thread.done) {
    if (done.stamp != heddle_thread_state.stamp || done.breaks != thread.breaks) continue;
    if (begin < done.begin || end > done.end || (kIsWrite && !done.writes)) continue;
    if (done.step == 0) return true;
    if (done.step == step && done.size == size && (begin - done.begin) % step == 0) return true;
  }
  return false;
}

template <bool kIsWrite>
HEDDLE_INLINE void remember_done(Thread& thread, uint64_t begin, uint64_t end, uint64_t step, uint64_t size) {
  thread.done[thread.next_done++ % Thread::kDone] = {
      begin, end, step, size, heddle_thread_state.stamp, thread.breaks, kIsWrite};
}

template <bool kIsWrite>
HEDDLE_INLINE void access_half_cell(uint64_t place, const char* name, const void* caller, const void* pc) {
  const void* const address = reinterpret_cast<const void*>(place);
  const Cell& cell = *cell_of(address);
  const uint64_t words = kIsWrite ? cell.write : cell.read;
  const auto word = part_of<uint32_t>(words, shift_of<uint32_t>(address));
  if (word == static_cast<uint32_t>(heddle_thread_state.stamp)) return;
  if (!try_access<uint32_t, kIsWrite>(address, caller, pc))
    look_up<uint32_t, kIsWrite>(address, name, caller, pc);
}

template <bool kIsWrite>
HEDDLE_INLINE void access_elements(uint64_t address, uint64_t count, uint64_t distance, uint64_t size,
                                   const char* name, const void* caller, const void* pc) {
  if (distance <= size)
    return access_range<kIsWrite>(address, distance * (count - 1) + size, name, caller, pc);
  if ((address | distance | size) % 8 == 0) {
    pass_over_done<kIsWrite>(address, count, distance, size);
    for (uint64_t part = 0; part < size; part += 8)
      access_cells<kIsWrite>(address + part, count, distance, name, caller, pc);
    return;
  }
  for (; count > 0; --count, address += distance) {
    if (size == 4 && address % 4 == 0) {
      access_half_cell<kIsWrite>(address, name, caller, pc);
    } else {
      access_range<kIsWrite>(address, size, name, caller, pc);
    }
  }
}

template <bool kIsWrite>
HEDDLE_INLINE void access_series(uint64_t address, uint64_t count, int64_t step, uint64_t size,
                                 const char* name, const void* caller, const void* pc) {
  if (heddle_thread_state.thread == nullptr || count == 0) return;
  if (step < 0) {
    address += static_cast<uint64_t>(step) * (count - 1);
    step = -step;
  }
  const auto distance = static_cast<uint64_t>(step);
  const uint64_t end = address + distance * (count - 1) + size;
  if (end - address < kLong || tells_all_of_stretch)
    return access_elements<kIsWrite>(address, count, distance, size, name, caller, pc);
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const uint64_t gap = distance <= size ? 0 : distance;
  if (is_remembered<kIsWrite>(thread, address, end, gap, size)) return;
  access_elements<kIsWrite>(address, count, distance, size, name, caller, pc);
  remember_done<kIsWrite>(thread, address, end, gap, size);
}

template <class Word, bool kIsWrite>
HEDDLE_INLINE bool try_inside(const void* address, const void* caller, const void* pc) {
  if (!is_aligned<Word>(address)) return false;
  // For the program, while its state is on its way.
  if constexpr (kIsWrite) {
    fetch_to_change(cell_of(address));
    fetch_to_change(static_cast<const char*>(address));
  } else {
    fetch(static_cast<const char*>(address));
  }
  const Inside inside;
  return try_access<Word, kIsWrite>(address, caller, pc);
}

// What one vector instruction accesses, or the copy of a small object: a few cells of one page.
constexpr uint64_t kMostLanes = 8;

// Like try_access(). When it gives up, what it has done stands: who goes on finds it done, and notes the
// access once more, which reports do not mind.
template <bool kIsWrite>
HEDDLE_INLINE bool try_lanes(const void* address, uint64_t size, const void* caller, const void* pc) {
  const auto place = reinterpret_cast<uint64_t>(address);
  if ((place | size) % 8 != 0 || size > kMostLanes * 8 ||
      page_of(address) != page_of(static_cast<const char*>(address) + size - 1))
    return false;
  const Inside inside;
  if (heddle_thread_state.thread == nullptr) return true;
  if (heddle_thread_state.stamp == kNoStamp) start_stretch();
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const AtPage page(thread, address);
  if (!page.is_settled() || thread.left_to_tell != 0) return false;
  remember(thread, address, size | (kIsWrite ? kWrites : 0), caller, pc);
  const uint64_t stamp = heddle_thread_state.stamp;
  Cell* const end = cell_of(address) + size / 8;
  for (Cell* cell = cell_of(address); cell < end; ++cell) {
    const Cell old = *cell;
    if (kIsWrite ? old.write == stamp : old.read == stamp || old.read == heddle_thread_state.group) continue;
    const Known known = known_after<uint64_t, kIsWrite>(thread, old.read, old.write);
    if (!known.is_known) return false;
    if (!kIsWrite && known.read != stamp) heddle_thread_state.group = known.read;
    const Cell fresh = {known.read, known.write};
    if (!(fresh == old) && !page.exchange(cell, old, fresh)) return false;
  }
  return true;
}

template <bool kIsWrite>
[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS void go_on_range(const void* address, uint64_t size,
                                                          const char* name, const void* caller) {
  const Inside inside;
  access_range<kIsWrite>(reinterpret_cast<uint64_t>(address), size, name, caller,
                         __builtin_return_address(0));
}

template <bool kIsWrite>
HEDDLE_INLINE void access_some(uint64_t place, uint64_t size, const void* pc) {
  const void* const address = reinterpret_cast<const void*>(place);
  if (size == 4 && is_aligned<uint32_t>(address)) {
    access_half_cell<kIsWrite>(place, nullptr, nullptr, pc);
  } else if (size <= 2 && size > 0) {
    few_bytes<kIsWrite>(address, static_cast<unsigned>(size), nullptr, nullptr, pc);
  } else {
    access_range<kIsWrite>(place, size, nullptr, nullptr, pc);
  }
}

// Whether these bytes were accessed before. False also when it takes a closer look.
template <bool kIsWrite>
HEDDLE_INLINE bool try_bytes_inside(const void* address, uint64_t size) {
  if (size > kMostLanes * 8) return false;
  const Inside inside;
  if (heddle_thread_state.thread == nullptr) return true;
  if (heddle_thread_state.stamp == kNoStamp) return false;
  return is_done_before<kIsWrite>(*static_cast<Thread*>(heddle_thread_state.thread),
                                  reinterpret_cast<uint64_t>(address), size);
}

template <unsigned kSize, bool kIsWrite>
[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS void go_on_bytes(const void* address, const char* name,
                                                          const void* caller) {
  const Inside inside;
  few_bytes<kIsWrite>(address, kSize, name, caller, __builtin_return_address(0));
}

// Entered by a jump, so that what is known needs few registers and saves no others; returns to the program.
template <class Word, bool kIsWrite>
[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS void go_on(const void* address, const char* name,
                                                    const void* caller) {
  const Inside inside;
  look_up<Word, kIsWrite>(address, name, caller, __builtin_return_address(0));
}

}  // namespace

HEDDLE_KEEPS_REGISTERS void access_memory(const void* address, uint64_t size_and_kind, const void* pc) {
  const Inside inside;
  const auto place = reinterpret_cast<uint64_t>(address);
  if ((size_and_kind & kWrites) != 0) {
    access_some<true>(place, size_and_kind & ~kWrites, pc);
  } else {
    access_some<false>(place, size_and_kind, pc);
  }
}

template <bool kIsWrite>
HEDDLE_INLINE void access_some_series(uint64_t address, uint64_t count, int64_t step, uint64_t size,
                                      const void* pc) {
  if (size >= 8) return access_series<kIsWrite>(address, count, step, size, nullptr, nullptr, pc);
  for (; count > 0; --count, address += static_cast<uint64_t>(step)) {
    access_some<kIsWrite>(address, size, pc);
    if (step == 0) return;
  }
}

HEDDLE_KEEPS_REGISTERS void access_memory_series(uint64_t address, uint64_t count, int64_t step,
                                                 uint64_t size_and_kind, const void* pc) {
  const Inside inside;
  if ((size_and_kind & kWrites) != 0) {
    access_some_series<true>(address, count, step, size_and_kind & ~kWrites, pc);
  } else {
    access_some_series<false>(address, count, step, size_and_kind, pc);
  }
}

#define HEDDLE_SLOW_PATH extern "C" HEDDLE_KEEPS_REGISTERS __attribute__((visibility("default"))) void
#define HEDDLE_HERE __builtin_return_address(0)

// The names that the compiler plug-in calls: heddle_read1, heddle_write_series, … `name` is what the source
// calls the memory; null: unknown.
#define HEDDLE_SLOW_PATHS(kind, is_write)                                                                    \
  HEDDLE_SLOW_PATH heddle_##kind##1(const void* a, const char* name, const void* caller) {                   \
    if (try_bytes_inside<is_write>(a, 1)) return;                                                            \
    [[clang::musttail]] return go_on_bytes<1, is_write>(a, name, caller);                                    \
  }                                                                                                          \
  HEDDLE_SLOW_PATH heddle_##kind##2(const void* a, const char* name, const void* caller) {                   \
    if (try_bytes_inside<is_write>(a, 2)) return;                                                            \
    [[clang::musttail]] return go_on_bytes<2, is_write>(a, name, caller);                                    \
  }                                                                                                          \
  HEDDLE_SLOW_PATH heddle_##kind##4(const void* a, const char* name, const void* caller) {                   \
    if (try_inside<uint32_t, is_write>(a, caller, HEDDLE_HERE)) return;                                      \
    [[clang::musttail]] return go_on<uint32_t, is_write>(a, name, caller);                                   \
  }                                                                                                          \
  HEDDLE_SLOW_PATH heddle_##kind##8(const void* a, const char* name, const void* caller) {                   \
    if (try_inside<uint64_t, is_write>(a, caller, HEDDLE_HERE)) return;                                      \
    [[clang::musttail]] return go_on<uint64_t, is_write>(a, name, caller);                                   \
  }                                                                                                          \
  HEDDLE_SLOW_PATH heddle_##kind##_range(const void* a, uint64_t size, const char* name,                     \
                                         const void* caller) {                                               \
    const bool has_cells = ((reinterpret_cast<uint64_t>(a) | size) & 7) == 0;                                \
    if (has_cells ? try_lanes<is_write>(a, size, caller, HEDDLE_HERE) : try_bytes_inside<is_write>(a, size)) \
      return;                                                                                                \
    [[clang::musttail]] return go_on_range<is_write>(a, size, name, caller);                                 \
  }                                                                                                          \
  HEDDLE_SLOW_PATH heddle_##kind##_series(const void* a, uint64_t count, int64_t step, uint64_t size,        \
                                          const char* name, const void* caller) {                            \
    const Inside inside;                                                                                     \
    access_series<is_write>(reinterpret_cast<uint64_t>(a), count, step, size, name, caller, HEDDLE_HERE);    \
  }

HEDDLE_SLOW_PATHS(read, false)
HEDDLE_SLOW_PATHS(write, true)

}  // namespace heddle::runtime
