#include "runtime/freeing.h"

#include "runtime/cell.h"
#include "runtime/note.h"
#include "runtime/open_groups.h"
#include "runtime/patches.h"
#include "runtime/shadow.h"
#include "runtime/stretches.h"
#include "runtime/system_code.h"
#include "runtime/tell_race.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// A stretch among those that the word stands for that is not ordered before now; 0: there is none.
Number unordered_in(const Thread& thread, Number number) {
  const Entry entry = entries[number];
  if (entry.kind() != Entry::Kind::kGroup) return thread.is_before(entry) ? 0 : number;
  if (entry.is_open()) {
    Number unordered = 0;
    for_each_in_open_group(entry, [&](Number member) {
      if (!thread.is_before(entries[member])) unordered = member;
    });
    return unordered;
  }
  for (uint32_t i = 0; i < entry.member_count(); ++i)
    if (const Number member = entry.member(i); !thread.is_before(entries[member])) return member;
  return 0;
}
Number unordered_in(const Thread& thread, uint32_t word, uint32_t wanted_bytes) {
  while (word != 0) {
    const Entry entry = entries[number_of(word)];
    const bool is_layer = entry.kind() == Entry::Kind::kLayer;
    if ((bytes_of(word) & wanted_bytes) != 0)
      if (const Number found = unordered_in(thread, is_layer ? entry.upper() : number_of(word)); found != 0)
        return found;
    wanted_bytes &= ~bytes_of(word);  // the layers below have been written over
    word = is_layer ? entry.below() : 0;
  }
  return 0;
}

struct Unordered {
  Number stretch = 0;  // 0: none
  bool wrote = false;
  unsigned half = 0;  // of the cell
};
Unordered unordered_in(const Thread& thread, const Cell& cell) {
  for (unsigned half = 0; half < 2; ++half)
    for (const bool wrote : {true, false}) {
      const auto word = static_cast<uint32_t>((wrote ? cell.write : cell.read) >> (32 * half));
      if (const Number found = unordered_in(thread, word, 0xF); found != 0) return {found, wrote, half};
    }
  return {};
}

// In a part of a page that the thread is at.
bool are_patches_ordered(const Thread& thread, const char* from, const char* to) {
  const AtPatches patches(page_of(from));
  if (!patches) return true;
  const unsigned begin = cell_in_page(reinterpret_cast<uint64_t>(from));
  bool are_ordered = true;
  for_each_state(*patches, begin, begin + static_cast<unsigned>((to - from + 7) / 8),
                 [&](const Cell& state) { are_ordered &= unordered_in(thread, state).stretch == 0; });
  return are_ordered;
}

// In the part of the memory that lies in one page: false when a race was found.
bool check_page(Thread& thread, const char* from, const char* to, const void* pc) {
  Unordered found;
  for (;;) {
    const AtPage page(thread, from);
    if (page.is_paused()) {
      thread.page = 0;
      wait_while_paused();
      continue;
    }
    if (!are_patches_ordered(thread, from, to)) {
      // Which cells that is about is looked at as in other pages.
      thread.page = 0;
      settle(thread, page_of(from));
      continue;
    }
    Cell last = {};  // of the cells that were all right
    for (; from < to && found.stretch == 0; from += 8) {
      const Cell cell = *cell_of(from);
      if (cell == last) continue;
      found = unordered_in(thread, cell);
      last = cell;
    }
    break;
  }
  if (found.stretch == 0) return true;
  tell_race(thread, {.earlier = found.stretch,
                     .earlier_wrote = found.wrote,
                     .address = from - 8 + (found.half == 0 ? 0 : 4),
                     .size = 4,
                     .writes = true,
                     .is_atomic = false,
                     .name = nullptr,
                     .caller = nullptr,
                     .pc = pc,
                     .frees = true});
  return false;
}

// The parts of the memory that lie in one page each: `visit` until it returns false.
template <class Visit>
void for_each_page(const char* from, const char* end, Visit visit) {
  while (from < end) {
    const uint64_t next_page = (reinterpret_cast<uint64_t>(from) | ((uint64_t{1} << kPageBits) - 1)) + 1;
    const char* const to =
        next_page < reinterpret_cast<uint64_t>(end) ? reinterpret_cast<const char*>(next_page) : end;
    if (!visit(from, to)) return;
    from = to;
  }
}

}  // namespace

bool is_checked_free(const void* pc) {
  // The system's libraries free what they have made in their own time: the C library the memory of a thread
  // that it joins, the C++ library exceptions whose users it has counted. Nobody tells us about their order.
  return heddle_thread_state.thread != nullptr && !is_system_code(pc);
}

void mark_freed(const void* memory, std::size_t size, const void* pc) {
  const Inside inside;
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  if (heddle_thread_state.stamp == kNoStamp) begin_stretch(thread);
  const uint64_t stamp = heddle_thread_state.stamp;
  note_place(thread, nullptr);
  thread.next_memo() = Memo::of_freed(memory, size, pc);
  const auto* from = static_cast<const char*>(memory);
  for_each_page(from, from + size, [&](const char* begin, const char* end) {
    if (owners[page_of(begin)] == 0) settle(thread, page_of(begin));
    const AtPage page(thread, begin);
    // The numbers in use are counted now, or were just now: then the page may be nobody's again, and would
    // not be looked at the next time. Nothing is lost but the mark.
    if (page.is_paused() || page.is_nobodys()) return true;
    if (const AtPatches patches(page_of(begin)); patches) {
      const auto count = static_cast<unsigned>((end - begin + 7) / 8);
      set_state(*patches, {cell_in_page(reinterpret_cast<uint64_t>(begin)), count, 1}, {stamp, stamp});
      return true;
    }
    for (; begin < end; begin += 8) {
      volatile Cell& cell = *cell_of(begin);
      cell.read = stamp;
      cell.write = stamp;
    }
    return true;
  });
}

void check_free(const void* memory, std::size_t size, const void* pc) {
  const Inside inside;
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const auto* from = reinterpret_cast<const char*>(reinterpret_cast<uint64_t>(memory) & ~uint64_t{7});
  const char* const end = static_cast<const char*>(memory) + size;
  for_each_page(from, end, [&](const char* begin, const char* page_end) {
    // Memory whose state nobody has touched has none.
    return owners[page_of(begin)] == 0 || check_page(thread, begin, page_end, pc);
  });
}

}  // namespace heddle::runtime
