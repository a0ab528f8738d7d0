// Groups of readers, or of those who update the same memory atomically, that threads join without a change of
// the memory's state.
//
// Memory that several threads read all the time and nobody writes, such as a pointer to a table, would have
// its state changed by each stretch of each reader, and every change takes the cache line away from the
// others. So the readers of a word that has changed often become an *open group*: the word stays as it is,
// and each thread notes in a table of its own which of its stretches was the last to read the memory. Whoever
// does anything else to the memory first closes the group: makes an ordinary one of it while nobody is at the
// page (AlonePage in runtime/ownership.h). So nothing is lost; what is rare pays for what is common.
//
// The same goes for counters: memory that several threads change by atomic operations, and nobody uses in
// another way. There the group stands both for who has read and for who has written.
//
// An open group belongs to one word, or to both words of one cell: to exactly the bytes that are accessed.
#pragma once

#include <cstdint>

#include "runtime/cell.h"
#include "runtime/registers.h"
#include "runtime/stretches.h"
#include "runtime/thread.h"

namespace heddle::runtime {

HEDDLE_INLINE bool is_open(uint32_t word) { return word != 0 && entries[number_of(word)].is_open(); }
HEDDLE_INLINE bool has_open_group(const Cell& cell) {
  const auto low = static_cast<uint32_t>(cell.read);
  const auto high = static_cast<uint32_t>(cell.read >> 32);
  return is_open(low) || (high != low && is_open(high));
}
// Among these of its bytes.
HEDDLE_INLINE bool has_open_group(const Cell& cell, unsigned first, unsigned size) {
  return (first < 4 && is_open(static_cast<uint32_t>(cell.read))) ||
         (first + size > 4 && is_open(static_cast<uint32_t>(cell.read >> 32)));
}

// Whether a plain read may join the group that the word belongs to, or an atomic operation that writes: it is
// of all the bytes that the group is about, half a cell or both.
HEDDLE_INLINE bool is_open_to(uint32_t word, bool is_of_cell, bool is_of_updates) {
  if (!is_open(word)) return false;
  const Entry group = entries[number_of(word)];
  return group.is_of_cell() == is_of_cell && group.is_of_updates() == is_of_updates;
}
// The stretch with that stamp is in the group from now on. Its thread is at the page.
HEDDLE_INLINE void join_open_group(Thread& thread, uint32_t word, uint64_t stamp) {
  thread.open_groups[entries[number_of(word)].place()] = number_of(static_cast<uint32_t>(stamp));
  thread.join_of(word) = {word, word, static_cast<uint32_t>(stamp)};
  if (heddle_thread_state.stamp == stamp) heddle_thread_state.group = twice(word);
}
// The same for the atomic operations of the present stretch, which have that number.
HEDDLE_INLINE void join_open_updates(Thread& thread, uint32_t word, Number atomics) {
  thread.open_groups[entries[number_of(word)].place()] = atomics;
}

// The last stretch of each thread in the group. Threads may join meanwhile, unless nobody is at the page.
template <class Visit>
void for_each_in_open_group(Entry group, Visit visit) {
  const uint32_t count = __atomic_load_n(&thread_count, __ATOMIC_ACQUIRE);
  for (uint32_t serial = 1; serial <= count; ++serial)
    if (const Number stretch = threads_by_serial[serial]->open_groups[group.place()]; stretch != 0)
      visit(stretch);
}

// An access has put the thread's present stretch among others of its kind at the cell. True once that
// happened so often that an open group is worth while. Cells that come and go do not displace one that is
// always there.
HEDDLE_INLINE bool is_often_joined(Thread& thread, const Cell* cell) {
  constexpr uint32_t kOften = 64;  // closing the group costs about as much
  const uint64_t place = reinterpret_cast<uint64_t>(cell) / sizeof(Cell);
  Thread::Joins& joins = thread.joins_of_cells[place % Thread::kJoinedCells];
  if (joins.cell != cell) {
    if (joins.count == 0) {
      joins.cell = cell;
    } else {
      --joins.count;
    }
    return false;
  }
  if (++joins.count < kOften) return false;
  joins.count = 0;
  return true;
}

// A number for a new open group of the stretches that the number stands for; 0: there are too many groups, or
// others are among them. The thread is at a page that is everybody's.
Number open_group(Thread& thread, Number members, bool is_of_cell, bool is_of_updates);
// Nobody has seen it.
void take_back_open_group(Number group);

// Afterwards no open group is at the cell, or was not for a moment. The thread is at no page.
void close_groups(Thread& thread, const void* address);

// Those that no word refers to any more make room.
void sweep_open_groups(const Marking& used);
void unlock_open_groups();  // in the child after a fork

}  // namespace heddle::runtime
