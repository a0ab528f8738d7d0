#include "runtime/sole_changer.h"

#include <sched.h>

#include "runtime/cell.h"

namespace heddle::runtime {

constinit SoleChanger::Word SoleChanger::words_[kWords] = {};

HEDDLE_KEEPS_REGISTERS void SoleChanger::wait_for(const Word* word) {
  auto wait = [&] {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) % 2 != 0) ::sched_yield();
  };
  keep_registers(wait);
}

HEDDLE_KEEPS_REGISTERS bool SoleChanger::is_kept(const Word* word, const Cell* cell, const Cell& given) {
  wait_for(word);
  return __atomic_load_n(&cell->read, __ATOMIC_RELAXED) == given.read &&
         __atomic_load_n(&cell->write, __ATOMIC_RELAXED) == given.write;
}

void SoleChanger::forget_all() {
  for (Word& word : words_) word = 0;
}

}  // namespace heddle::runtime
