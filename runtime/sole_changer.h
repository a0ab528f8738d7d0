// Many cells of everybody's page, changed with plain stores.
//
// A locked instruction for each cell of a long row costs several times what all the rest of looking at it
// does. So who is about to change many says so first, in a word that is odd meanwhile, and others do not.
// They change single cells as ever, with compare-and-exchange, but look at the word before and after: if
// somebody was about to change many in between, he may have read the cell before and written it afterwards.
// Then they wait until he is done, and what they did counts only if the cell still has it; else they begin
// again, and find what he did. So of two accesses at the same time one sees the other, as it would without
// this. Who makes a cell one that others need not change (an open group) is such a one himself while he does.
#pragma once

#include <cstdint>

#include "runtime/layout.h"
#include "runtime/ownership.h"
#include "runtime/registers.h"

namespace heddle::runtime {

struct Cell;

class SoleChanger {
 public:
  using Word = uint32_t;
  // Fewer are changed one by one.
  static constexpr uint64_t kFew = 16;

  // At a page that is everybody's.
  HEDDLE_INLINE SoleChanger(uint64_t page, bool is_wanted) : word_(word_of(page)) {
    if (!is_wanted) return;
    Word now = __atomic_load_n(word_, __ATOMIC_RELAXED);
    is_sole_ = now % 2 == 0 &&
               __atomic_compare_exchange_n(word_, &now, now + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  }
  HEDDLE_INLINE ~SoleChanger() {
    if (is_sole_) __atomic_store_n(word_, *word_ + 1, __ATOMIC_RELEASE);
  }
  SoleChanger(const SoleChanger&) = delete;
  SoleChanger& operator=(const SoleChanger&) = delete;

  HEDDLE_INLINE bool is_sole() const { return is_sole_; }

  HEDDLE_INLINE static Word* word_of(uint64_t page) { return words_ + page % kWords; }
  // Since the word was `before`.
  HEDDLE_INLINE static bool was_nobody(const Word* word, Word before) {
    return before % 2 == 0 && __atomic_load_n(word, __ATOMIC_RELAXED) == before;
  }
  HEDDLE_KEEPS_REGISTERS static void wait_for(const Word* word);
  // Whether the cell still has what it was given, once nobody changes many.
  HEDDLE_KEEPS_REGISTERS static bool is_kept(const Word* word, const Cell* cell, const Cell& given);

  // In the child after a fork: who was about to is gone.
  static void forget_all();

 private:
  static constexpr uint64_t kWords = 4096;
  static Word words_[kWords];  // by page; several pages share one

  Word* word_;
  bool is_sole_ = false;
};

}  // namespace heddle::runtime
