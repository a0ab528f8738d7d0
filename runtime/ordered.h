// Whether what words of the shadow stand for is before what the thread does now.
#pragma once

#include <cstdint>

#include "runtime/registers.h"
#include "runtime/stretches.h"
#include "runtime/thread.h"

namespace heddle::runtime {

// A stretch's, or those of a group. False also when it takes a closer look.
HEDDLE_INLINE bool is_ordered(const Thread& thread, Entry entry) {
  if (entry.kind() == Entry::Kind::kStretch) return thread.is_before(entry);
  if (entry.kind() != Entry::Kind::kGroup || entry.is_open()) return false;
  for (uint32_t i = 0; i < entry.member_count(); ++i)
    if (!thread.is_before(entries[entry.member(i)])) return false;
  return true;
}
// All that the word stands for. Layers that others cover count, too: most are no later.
HEDDLE_INLINE bool is_ordered(const Thread& thread, uint32_t word) {
  while (word != 0) {
    const Entry entry = entries[number_of(word)];
    if (entry.kind() != Entry::Kind::kLayer) return is_ordered(thread, entry);
    if (!is_ordered(thread, entries[entry.upper()])) return false;
    word = entry.below();
  }
  return true;
}
HEDDLE_INLINE bool is_ordered(const Thread& thread, uint64_t words) {
  const auto low = static_cast<uint32_t>(words);
  const auto high = static_cast<uint32_t>(words >> 32);
  return is_ordered(thread, low) && (low == high || is_ordered(thread, high));
}

}  // namespace heddle::runtime
