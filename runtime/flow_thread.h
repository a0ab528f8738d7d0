// What a thread keeps of the data flow that it tells.
#pragma once

#include <cstdint>

#include "runtime/objects.h"
#include "runtime/open_marks.h"

namespace heddle::runtime {

struct Thread;
struct Told;

struct KnownLabels;  // runtime/flow_labels.h

// A call of a function without labels that has not returned, or not to where it was called: a call in its
// caller's place, an exception.
struct OpenCall {
  const void* callee;
  const void* pc;
  const char* top;  // of the caller's frame
  uint32_t kind;
  uint32_t label;    // of all that it has seen
  uint32_t outside;  // of the one around it
  uint32_t pointers;
  uint32_t count;
};

struct FlowThread {
  uint64_t era;            // the place in the trace: what may be left out, and whose task it is
  KnownLabels* known;      // null: nothing is known of its labels yet
  uint32_t library_label;  // what the function of the C library it is in has read so far
  Objects reached;         // by the function without labels that is being called
  GrowingArray<OpenCall> open;
  GrowingArray<const void*> open_pointers;  // among their arguments
  uint32_t tasks;                           // it is in
  uint32_t pauses;                          // constructs it is in, and no task of theirs
  uint32_t maybes;                          // `if (HEDDLE_MAYBE)` that it is in
  OpenMarks marks;                          // both of these
  uint32_t* own_written;                    // of runtime/own_variables.h; null: nothing is
  // Of the task's stack: the lowest address seen, and where it cannot be any more. The next task of the
  // thread has the same stack.
  const char* deepest;
  const char* deepest_possible;
  const void* counting;  // the reference counts that it is changing or looking at; null: none
};
extern __thread FlowThread flow_thread __attribute__((tls_model("initial-exec")));

// The calling thread; null when it has nothing to tell.
Thread* telling_thread();
void tell_quickly(Thread& thread, const Told& told);
// Calls of functions without labels are over whose caller's frame is this one, or was further down.
void end_calls(const char* top);
void leave_labels();  // the thread ends
inline void new_era() { ++flow_thread.era; }
// Somebody may have changed memory: what was read before is no longer what it holds.
void forget_reads(const void* address, uint32_t size);

// So that each piece is an aligned word where it can be.
template <class Visit>
void for_each_word(uint64_t address, uint64_t size, Visit visit) {
  for (const uint64_t end = address + size; address < end;) {
    const uint64_t here = end - address < 8 - address % 8 ? end - address : 8 - address % 8;
    visit(address, static_cast<uint32_t>(here));
    address += here;
  }
}

}  // namespace heddle::runtime
