// What code compiled with --heddle-dataflow calls (runtime/flow.h): accesses with their labels, and how
// labels are joined, branched on and used again.
#include "runtime/flow.h"

#include "runtime/access.h"
#include "runtime/atomics.h"
#include "runtime/cell.h"
#include "runtime/connection.h"
#include "runtime/flow_thread.h"
#include "runtime/interpose/real.h"
#include "runtime/message.h"
#include "runtime/put.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

__attribute__((visibility("default"))) __thread HeddleFlowState heddle_flow_state = {1, 0, nullptr, {}};

namespace heddle::runtime {

bool follows_data = false;
__thread uint32_t told_local = 0;
__thread FlowThread flow_thread = {};

namespace {

// 0: there are no more. Only a very deep recursion, or a loop that no compiler understands, gets there. A
// read without a label counts as a branch; whoever joins labels says that they do.
uint32_t fresh_label() {
  if (heddle_flow_state.next < kMostLabels) return heddle_flow_state.next++;
  static bool is_said = false;
  if (!is_said)
    say("more than %u values are followed at once; what further ones depend on counts as a branch",
        kMostLabels);
  is_said = true;
  return 0;
}

// The thread's latest reads: the same memory once more, with nothing in between that could change it or its
// place in the trace, is the same event.
KnownRead& known_read(const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address) >> 3;
  return flow_thread.reads[(at ^ at >> 7) % FlowThread::kReads];
}

void forget_read(const void* address) { known_read(address).address = nullptr; }

void see_stack(const void* address) {
  const auto* const at = static_cast<const char*>(address);
  if (at < flow_thread.deepest && at >= flow_thread.deepest_possible) flow_thread.deepest = at;
}

// Races of accesses are found as ever; a race is told before the access, so that the order is what it was.
void look_for_race(const void* address, uint64_t size_and_kind, const void* pc) {
  if (heddle_thread_state.thread != nullptr) access_memory(address, size_and_kind, pc);
}

uint32_t read(const void* address, uint32_t size, const char* name, const void* pc) {
  Thread* const thread = telling_thread();
  if (thread == nullptr) return 0;
  see_stack(address);
  KnownRead& known = known_read(address);
  const uint64_t written = heddle_thread_state.thread == nullptr ? 0 : cell_of(address)->write;
  if (known.address == address && known.size == size && known.stamp == heddle_thread_state.stamp &&
      known.written == written && known.era == flow_thread.era)
    return known.label;
  look_for_race(address, size, pc);
  const uint32_t label = fresh_label();
  tell_quickly(*thread, {.operation = static_cast<uint8_t>(Operation::kRead),
                         .address = address,
                         .pc = pc,
                         .size = static_cast<uint8_t>(size),
                         .extra = label << kOrderBits,
                         .name = reinterpret_cast<uint64_t>(name)});
  if (size <= 8)
    known = {address,
             size,
             label,
             heddle_thread_state.stamp,
             heddle_thread_state.thread == nullptr ? 0 : cell_of(address)->write,
             flow_thread.era};
  return label;
}

void write(const void* address, uint32_t size, const char* name, uint32_t label, const void* pc) {
  Thread* const thread = telling_thread();
  if (thread == nullptr) return;
  see_stack(address);
  forget_read(address);
  if (size > 1) forget_read(static_cast<const char*>(address) + size - 1);
  look_for_race(address, size | kWrites, pc);
  tell_quickly(*thread, {.operation = static_cast<uint8_t>(Operation::kWrite),
                         .address = address,
                         .pc = pc,
                         .size = static_cast<uint8_t>(size),
                         .extra = label << kOrderBits,
                         .name = reinterpret_cast<uint64_t>(name)});
}

// So that each piece is an aligned word where it can be.
template <class Visit>
void for_each_word(uint64_t address, uint64_t size, Visit visit) {
  for (const uint64_t end = address + size; address < end;) {
    const uint64_t here = end - address < 8 - address % 8 ? end - address : 8 - address % 8;
    visit(address, static_cast<uint32_t>(here));
    address += here;
  }
}

void assign(Thread& thread, uint32_t label, const uint32_t (&from)[4], const void* pc) {
  tell_quickly(thread, {.operation = static_cast<uint8_t>(Operation::kAssign),
                        .address = reinterpret_cast<const void*>(uint64_t{label}),
                        .pc = pc,
                        .name = from[0] | uint64_t{from[1]} << 32,
                        .caller = from[2] | uint64_t{from[3]} << 32});
}

void branch(uint32_t label, const void* pc) {
  if (label == 0) return;
  uint32_t& known = flow_thread.branches[label % FlowThread::kBranches];
  if (known == label) return;
  Thread* const thread = telling_thread();
  if (thread == nullptr) return;
  known = label;
  tell_quickly(*thread, {.operation = static_cast<uint8_t>(Operation::kBranch),
                         .address = reinterpret_cast<const void*>(uint64_t{label}),
                         .pc = pc});
}

// The label of what is computed from values with these; `is_own`: also when there is nothing to join.
uint32_t joined(uint32_t a, uint32_t b, uint32_t c, uint32_t d, const void* pc, bool is_own = false) {
  uint32_t from[4] = {};
  unsigned count = 0;
  for (const uint32_t label : {a, b, c, d}) {
    bool is_new = label != 0;
    for (unsigned i = 0; i < count; ++i) is_new &= from[i] != label;
    if (is_new) from[count++] = label;
  }
  if (count < 2 && !is_own) return from[0];
  Thread* const thread = telling_thread();
  if (thread == nullptr) return 0;
  const uint32_t label = fresh_label();
  if (label != 0) {
    assign(*thread, label, from, pc);
  } else {
    for (const uint32_t each : from) branch(each, pc);
  }
  return label;
}

// Labels from `mark` on are used again, except that what has these labels has others from now on.
void use_again(uint32_t mark, uint32_t* labels, uint32_t count, const void* pc) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) kept += labels[i] >= mark ? 1 : 0;
  Thread* const thread = telling_thread();
  // Above all that is in use first, so that none is overwritten before it is copied.
  const uint32_t aside = heddle_flow_state.next > mark + kept ? heddle_flow_state.next : mark + kept;
  if (thread != nullptr) {
    for (const bool is_back : {false, true}) {
      uint32_t at = 0;
      for (uint32_t i = 0; i < count; ++i) {
        if (labels[i] < mark) continue;
        const uint32_t to = (is_back ? mark : aside) + at++;
        assign(*thread, to, {labels[i], 0, 0, 0}, pc);
        labels[i] = to;
      }
    }
  }
  heddle_flow_state.next = mark + kept;
  new_era();
}

// What was called before it was known to be there.
void count_unfollowed(const void* callee) {
  if (Thread* const thread = telling_thread(); thread != nullptr)
    tell_unordered(*thread, {.operation = kToldUnfollowed, .address = callee, .context = 0});
}

}  // namespace

void new_era() {
  ++flow_thread.era;
  for (uint32_t& label : flow_thread.branches) label = 0;
}

Thread* telling_thread() {
  if (!follows_data || channel == nullptr) return nullptr;
  Thread* const thread = this_thread;
  return thread != nullptr && thread->library_depth == 0 && flow_thread.pauses == 0 ? thread : nullptr;
}

void tell_quickly(Thread& thread, const Told& told) {
  const Inside inside;
  HeddleFrame* const frame = heddle_thread_state.frame;
  if (has_places(thread, 1) && thread.blocks.pending() == 0 && (frame == nullptr || frame->context != 0))
    return put(thread, make_record(told, frame == nullptr ? 0 : static_cast<uint32_t>(frame->context)));
  tell_unordered(thread, told);
}

void library_access(const void* address, uint64_t size_and_kind, const void* pc) {
  const bool writes = (size_and_kind & kWrites) != 0;
  uint32_t& label = flow_thread.library_label;
  for_each_word(reinterpret_cast<uint64_t>(address), size_and_kind & ~kWrites,
                [&](uint64_t at, uint32_t size) {
                  const void* const here = reinterpret_cast<const void*>(at);
                  if (writes) {
                    write(here, size, nullptr, label, pc);
                  } else {
                    label = joined(label, read(here, size, nullptr, pc), 0, 0, pc);
                  }
                });
}

HEDDLE_INTERPOSE uint32_t heddle_flow_read(const void* address, uint32_t size, const char* name) {
  return read(address, size, name, HEDDLE_HERE);
}

HEDDLE_INTERPOSE void heddle_flow_write(const void* address, uint32_t size, const char* name,
                                        uint32_t label) {
  write(address, size, name, label, HEDDLE_HERE);
}

// Word by word: each depends on its own source.
HEDDLE_INTERPOSE void heddle_flow_copy(const void* to, const void* from, uint64_t size, const char* to_name,
                                       const char* from_name) {
  if (telling_thread() == nullptr || to == from) return;
  const void* const pc = HEDDLE_HERE;
  const auto source = reinterpret_cast<uint64_t>(from);
  const auto target = reinterpret_cast<uint64_t>(to);
  const auto copy = [&](uint64_t at, uint32_t bytes) {
    const uint32_t label = read(reinterpret_cast<const void*>(at), bytes, from_name, pc);
    write(reinterpret_cast<const void*>(target + (at - source)), bytes, to_name, label, pc);
  };
  if (target > source && target < source + size) {
    // From the end, as memmove does: nothing is overwritten before it is read.
    for (uint64_t left = size; left > 0;) {
      const uint64_t bytes = left % 8 != 0 ? left % 8 : 8;
      left -= bytes;
      copy(source + left, static_cast<uint32_t>(bytes));
    }
    return;
  }
  for_each_word(source, size, copy);
}

HEDDLE_INTERPOSE void heddle_flow_fill(const void* to, uint64_t size, const char* name, uint32_t label) {
  if (telling_thread() == nullptr) return;
  const void* const pc = HEDDLE_HERE;
  for_each_word(reinterpret_cast<uint64_t>(to), size, [&](uint64_t at, uint32_t bytes) {
    write(reinterpret_cast<const void*>(at), bytes, name, label, pc);
  });
}

HEDDLE_INTERPOSE uint32_t heddle_flow_read_range(const void* from, uint64_t size, const char* name) {
  if (telling_thread() == nullptr) return 0;
  const void* const pc = HEDDLE_HERE;
  uint32_t label = 0;
  for_each_word(reinterpret_cast<uint64_t>(from), size, [&](uint64_t at, uint32_t bytes) {
    label = joined(label, read(reinterpret_cast<const void*>(at), bytes, name, pc), 0, 0, pc);
  });
  return label;
}

// After heddle_begin_atomic() and the operation. `label`: of what is written. The result: of what was read.
// An update is told with one local, which the new value comes from and the old one goes to.
HEDDLE_INTERPOSE uint32_t heddle_flow_end_atomic(const void* variable, uint64_t size, uint32_t kind,
                                                 uint32_t order, const char* name, uint32_t label) {
  const void* const pc = HEDDLE_HERE;
  forget_read(variable);
  see_stack(variable);
  Thread* const thread = telling_thread();
  if (thread != nullptr && (kind & kAtomicRead) != 0)
    label = (kind & kAtomicWrite) == 0 ? fresh_label() : joined(label, 0, 0, 0, pc, /*is_own=*/true);
  told_local = label;
  if (heddle_thread_state.thread != nullptr) {
    end_atomic(variable, size, kind, order, name, pc);
  } else if (thread != nullptr) {
    tell_atomic(*thread, variable, size, kind, order, name, pc);  // it is the only thread
  }
  told_local = 0;
  return label;
}

HEDDLE_INTERPOSE uint32_t heddle_flow_join(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return joined(a, b, c, d, HEDDLE_HERE);
}

HEDDLE_INTERPOSE void heddle_flow_branch(uint32_t label) { branch(label, HEDDLE_HERE); }

// After a call whose arguments have these labels: what the result depends on.
HEDDLE_INTERPOSE uint32_t heddle_flow_after_call(const void* callee, uint32_t may_throw, uint32_t a,
                                                 uint32_t b, uint32_t c, uint32_t d) {
  heddle_flow_state.callee = nullptr;
  if (heddle_flow_state.result != kNoLabel) return heddle_flow_state.result;
  count_unfollowed(callee);
  const void* const pc = HEDDLE_HERE;
  if (may_throw != 0)
    for (const uint32_t label : {a, b, c, d}) branch(label, pc);
  return joined(a, b, c, d, pc);
}

// Before a function returns a value with this label. `mark`: the next label when it began.
HEDDLE_INTERPOSE uint32_t heddle_flow_return(uint32_t mark, uint32_t label) {
  if (heddle_flow_state.next - mark > kManyLabels) use_again(mark, &label, 1, HEDDLE_HERE);
  return label;
}

// Before a loop goes round again with values of these labels.
HEDDLE_INTERPOSE void heddle_flow_turn(uint32_t mark, uint32_t* labels, uint32_t count) {
  use_again(mark, labels, count, HEDDLE_HERE);
}

HEDDLE_INTERPOSE void heddle_flow_begin_library(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  flow_thread.library_label = joined(a, b, c, d, HEDDLE_HERE);
}
HEDDLE_INTERPOSE uint32_t heddle_flow_end_library() {
  const uint32_t label = flow_thread.library_label;
  flow_thread.library_label = 0;
  return label;
}

// At the end of what may be left out: a variable has a value there that it had, or had not, before. If it
// had, leaving it out makes no difference to the variable; what decides that is a branch inside.
HEDDLE_INTERPOSE uint32_t heddle_flow_out(uint32_t is_same, uint32_t label, uint32_t before) {
  const void* const pc = HEDDLE_HERE;
  if (is_same == 0) return joined(label, 0, 0, 0, pc, /*is_own=*/true);
  branch(label, pc);
  return before;
}

}  // namespace heddle::runtime
