// What an access leaves behind for reports, beside the state of the memory.
#pragma once

#include "runtime/contexts.h"
#include "runtime/rare_access.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

// Where the thread is, unless that is where its last memo was. Not only the first accesses of a stretch need
// it, which are told together with the call stack: any may turn out to be in race, and a finding must be the
// same as that of a recording, where all are told.
//
// Once the beginning of the stretch is forgotten, so is all of it (find_memo() in tell_race.cpp). It is not
// done then: recursion makes ever new call stacks, and their numbers are not to be had for nothing.
HEDDLE_INLINE void note_place(Thread& thread, const void* caller) {
  if (thread.memo - thread.first_memo >= Thread::kMemos) return;
  const uint32_t context = context_of(heddle_thread_state.frame);
  const auto caller_address = reinterpret_cast<uint64_t>(caller);
  if (context == thread.noted_context && caller_address == thread.noted_caller) return;
  thread.noted_context = context;
  thread.noted_caller = caller_address;
  thread.next_memo() = Memo::of_place(context, caller_address);
}

// Before the state of the memory says so: who finds it there can ask.
HEDDLE_INLINE void remember(Thread& thread, const void* address, uint64_t size_and_kind, const void* caller,
                            const void* pc, bool is_told = false) {
  note_place(thread, caller);
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
  remember(thread, address, size_and_kind, caller, pc, is_told);
}

// The same for a series of words, each so far from the one before, of which the first is told if there are
// gaps between them.
HEDDLE_INLINE void note_series(Thread& thread, const void* address, uint64_t count, uint64_t step,
                               uint64_t kind, const char* name, const void* caller, const void* pc) {
  constexpr uint64_t kWord = sizeof(uint64_t);
  constexpr uint64_t kMostDistance = kWord << (64 - Memo::kCodeBits);
  if (step == kWord || count == 1 || step >= kMostDistance)
    return note(thread, address, (step == kWord ? count * kWord : kWord) | kind, name, caller, pc);
  const bool is_told = thread.left_to_tell != 0;
  if (is_told) {
    --thread.left_to_tell;
    tell_access(thread, address, kWord | kind, name, caller, pc);
  }
  const uint64_t above = step / kWord << Memo::kCodeBits;
  remember(thread, address, ((count - 1) * step + kWord) | kind, caller,
           reinterpret_cast<const void*>(reinterpret_cast<uint64_t>(pc) | above), is_told);
}

}  // namespace heddle::runtime
