// Accesses to some of the 4 bytes of a word (runtime/layout.h), as far as nothing rare comes up: members of
// one byte beside each other, texts, tables of bytes. What is rare goes to rare_access.cpp; the rules are the
// same.
//
// The bytes of a word have different histories then, and the word is a pile of layers (runtime/stretches.h).
// What is looked for is the layer that names the bytes accessed, from the top; the new one is put on top, or
// is the top already. No pile becomes higher than kHighest here: rare_access.cpp makes a new one of it,
// without what others cover.
#pragma once

#include <cstdint>

#include "runtime/access_check.h"
#include "runtime/cell.h"
#include "runtime/note.h"
#include "runtime/ordered.h"
#include "runtime/thread.h"

namespace heddle::runtime {

class FewBytes {
 public:
  // What the access makes of the two words; or that it is not known here.
  struct After {
    bool is_known;
    uint32_t read;
    uint32_t write;
  };

  // The thread is at the page, which is settled.
  HEDDLE_INLINE explicit FewBytes(Thread& thread)
      : thread_(thread), present_(number_of(static_cast<uint32_t>(heddle_thread_state.stamp))) {}

  // Whether the bytes of the word, the one for writes or the one for reads, are the present stretch's.
  template <bool kIsWrite>
  HEDDLE_INLINE bool is_done(uint32_t word, uint32_t bytes) const {
    if (bytes == 0) return true;
    const Named who = named(word, bytes);
    return who.is_one && (kIsWrite ? who.number == present_ : has_present(who.number));
  }

  template <bool kIsWrite>
  HEDDLE_INLINE After after(uint32_t read, uint32_t write, uint32_t bytes) {
    const Named reader = named(read, bytes);
    if constexpr (kIsWrite) {
      if (is_done<true>(write, bytes)) return {true, read, write};
      // A write stands among the readers, too (known_after in access.cpp).
      if (!reader.is_one || !is_before(reader.number)) return {};
      const uint32_t new_read = with_top(read, bytes, present_);
      const uint32_t new_write = with_top(write, bytes, present_);
      return {new_read != 0 && new_write != 0, new_read, new_write};
    } else {
      if (!reader.is_one) return {};
      if (has_present(reader.number)) return {true, read, write};
      const Named writer = named(write, bytes);
      if (!writer.is_one || !is_before(writer.number)) return {};
      if (reader.number != 0 && !is_plain(entries[reader.number])) return {};
      AccessCheck check(thread_, /*writes=*/false, /*is_atomic=*/false);
      const uint32_t new_read = with_top(read, bytes, check.readers_after(reader.number));
      return {new_read != 0, new_read, write};
    }
  }

 private:
  static constexpr unsigned kHighest = 6;

  // Who has the bytes: one stretch or group has them all, or nobody (0).
  struct Named {
    bool is_one;
    Number number;
  };
  HEDDLE_INLINE static Named named(uint32_t word, uint32_t bytes) {
    while (word != 0) {
      const Entry entry = entries[number_of(word)];
      const bool is_layer = entry.kind() == Entry::Kind::kLayer;
      const uint32_t here = bytes_of(word) & bytes;
      if (here != 0) return {here == bytes, is_layer ? entry.upper() : number_of(word)};
      if (!is_layer) break;
      word = entry.below();
    }
    return {true, 0};
  }

  HEDDLE_INLINE static bool is_plain(Entry entry) {
    return entry.kind() == Entry::Kind::kStretch || (entry.kind() == Entry::Kind::kGroup && !entry.is_open());
  }
  HEDDLE_INLINE bool is_before(Number number) const {
    return number == 0 || number == present_ || is_ordered(thread_, entries[number]);
  }
  // Whether the present stretch is among the readers; false also when they are many.
  HEDDLE_INLINE bool has_present(Number readers) const {
    if (readers == present_) return true;
    if (readers == 0) return false;
    if (readers == number_of(static_cast<uint32_t>(heddle_thread_state.group))) return true;
    const Entry entry = entries[readers];
    if (entry.kind() != Entry::Kind::kGroup || entry.is_open() || entry.member_count() > 2) return false;
    return entry.member(0) == present_ || entry.member(1) == present_;
  }

  // The word when these bytes are the number's; 0: the pile is too high.
  HEDDLE_INLINE uint32_t with_top(uint32_t word, uint32_t bytes, Number number) {
    while (word != 0) {
      const Entry entry = entries[number_of(word)];
      const bool is_layer = entry.kind() == Entry::Kind::kLayer;
      if (number == (is_layer ? entry.upper() : number_of(word))) return word | bytes << kNumberBits;
      if ((bytes_of(word) & ~bytes) != 0) break;
      word = is_layer ? entry.below() : 0;
    }
    if (word == 0) return bytes << kNumberBits | number;
    unsigned height = 1;
    for (Entry entry = entries[number_of(word)]; entry.kind() == Entry::Kind::kLayer; ++height)
      entry = entries[number_of(entry.below())];
    return height < kHighest ? bytes << kNumberBits | layer(thread_, number, word) : 0;
  }

  Thread& thread_;
  Number present_;
};

// Whether the thread has done this in its present stretch, which the code in the program does not see where
// bytes have different histories or lie in several cells. False also when it takes a closer look.
template <bool kIsWrite>
HEDDLE_INLINE bool is_done_before(Thread& thread, uint64_t address, uint64_t size) {
  const void* const first = reinterpret_cast<const void*>(address);
  const AtPage page(thread, first);
  if (!page.is_settled() || page_of(first) != page_of(reinterpret_cast<const void*>(address + size - 1)))
    return false;
  const FewBytes few(thread);
  const uint64_t stamp = heddle_thread_state.stamp;
  for (const Cell* cell = cell_of(first); size > 0; ++cell) {
    const uint64_t before = address & 7;
    const uint64_t here = size < 8 - before ? size : 8 - before;
    const uint32_t bytes = ((1U << here) - 1) << before;
    const uint64_t words = kIsWrite ? cell->write : cell->read;
    const bool is_done = words == stamp || (!kIsWrite && words == heddle_thread_state.group) ||
                         (few.is_done<kIsWrite>(static_cast<uint32_t>(words), bytes & 0xF) &&
                          few.is_done<kIsWrite>(static_cast<uint32_t>(words >> 32), bytes >> 4));
    if (!is_done) return false;
    address += here;
    size -= here;
  }
  return true;
}

// At most 8 bytes of one cell. False: this takes a closer look, and nothing has changed.
template <bool kIsWrite>
HEDDLE_INLINE bool try_part_of_cell(Thread& thread, const void* address, unsigned size, const void* caller,
                                    const void* pc) {
  const AtPage page(thread, address);
  if (!page.is_settled()) return false;
  Cell* const cell = cell_of(address);
  const Cell old = *cell;
  Cell fresh = old;
  const uint32_t bytes = ((1U << size) - 1) << (reinterpret_cast<uint64_t>(address) & 7);
  FewBytes few(thread);
  for (unsigned half = 0; half < 2; ++half) {
    const uint32_t here = bytes >> 4 * half & 0xF;
    if (here == 0) continue;
    const unsigned shift = 32 * half;
    const FewBytes::After after = few.after<kIsWrite>(static_cast<uint32_t>(old.read >> shift),
                                                      static_cast<uint32_t>(old.write >> shift), here);
    if (!after.is_known) return false;
    const uint64_t others = ~(uint64_t{0xFFFFFFFF} << shift);
    fresh = {(fresh.read & others) | uint64_t{after.read} << shift,
             (fresh.write & others) | uint64_t{after.write} << shift};
  }
  if (fresh == old) return true;
  if (thread.left_to_tell != 0) return false;
  remember(thread, address, size | (kIsWrite ? kWrites : 0), caller, pc);
  return page.exchange(cell, old, fresh);
}

}  // namespace heddle::runtime
