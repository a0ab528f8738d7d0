// What an access leaves behind for reports, beside the state of the memory.
#pragma once

#include "runtime/rare_access.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

// Before the state of the memory says so: who finds it there can ask.
HEDDLE_INLINE void remember(Thread& thread, const void* address, uint64_t size_and_kind, const void* pc,
                            bool is_told = false) {
  const uint64_t size = size_and_kind & ~(kWrites | kIsAtomic);
  Memo& memo = thread.next_memo();
  memo.what = (reinterpret_cast<uint64_t>(address) & kAddressMask) |
              static_cast<uint64_t>((size_and_kind & kWrites) != 0) << 44 |
              (size < Memo::kMostBytes ? size : Memo::kMostBytes) << 45 |
              static_cast<uint64_t>((size_and_kind & kIsAtomic) != 0) << 62 |
              static_cast<uint64_t>(is_told) << 63;
  memo.pc = reinterpret_cast<uint64_t>(pc);
}

// The same, and tells the monitor if it is among the first of its stretch. `is_told`: it is told in another
// way.
HEDDLE_INLINE void note(Thread& thread, const void* address, uint64_t size_and_kind, const char* name,
                        const void* caller, const void* pc, bool is_told = false) {
  if (thread.left_to_tell != 0 && !is_told) {
    --thread.left_to_tell;
    tell_access(thread, address, size_and_kind, name, caller, pc);
    is_told = true;
  }
  remember(thread, address, size_and_kind, pc, is_told);
}

}  // namespace heddle::runtime
