// What code compiled with --heddle-dataflow calls (runtime/flow.h): accesses with their labels, and how
// labels are joined, branched on and used again.
#include "runtime/flow.h"

#include "runtime/access.h"
#include "runtime/atomics.h"
#include "runtime/cell.h"
#include "runtime/connection.h"
#include "runtime/flow_labels.h"
#include "runtime/flow_thread.h"
#include "runtime/interpose/real.h"
#include "runtime/message.h"
#include "runtime/own_variables.h"
#include "runtime/put.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

__attribute__((visibility("default"))) __thread HeddleFlowState heddle_flow_state = {1, 0, nullptr, {}, 0};

namespace heddle::runtime {

bool follows_data = false;
__thread uint32_t told_local = 0;
__thread FlowThread flow_thread = {};

namespace {

void see_stack(const void* address) {
  const auto* const at = static_cast<const char*>(address);
  if (at < flow_thread.deepest && at >= flow_thread.deepest_possible) flow_thread.deepest = at;
}

// Races of accesses are found as ever; a race is told before the access, so that the order is what it was.
void look_for_race(const void* address, uint64_t size_and_kind, const void* pc) {
  if (heddle_thread_state.thread != nullptr) access_memory(address, size_and_kind, pc);
}

// Of one aligned word at most.
uint32_t read_in_word(Thread& thread, const void* address, uint32_t size, const char* name, const void* pc) {
  const auto written = [&] { return heddle_thread_state.thread == nullptr ? 0 : cell_of(address)->write; };
  uint32_t label = 0;
  if (known_read(address, size, heddle_thread_state.stamp, written(), label)) return label;
  if (is_own_variable(address)) own_variable_is_read(address, name, pc);
  look_for_race(address, size, pc);
  label = fresh_label();
  tell_quickly(thread, {.operation = static_cast<uint8_t>(Operation::kRead),
                        .address = address,
                        .pc = pc,
                        .size = static_cast<uint8_t>(size),
                        .extra = label << kOrderBits,
                        .name = reinterpret_cast<uint64_t>(name)});
  know_read(address, size, heddle_thread_state.stamp, written(), label);
  return label;
}

void write_in_word(Thread& thread, const void* address, uint32_t size, const char* name, uint32_t label,
                   const void* pc) {
  forget_read(address);
  if (is_own_variable(address)) own_variable_is_written(address);
  look_for_race(address, size | kWrites, pc);
  tell_quickly(thread, {.operation = static_cast<uint8_t>(Operation::kWrite),
                        .address = address,
                        .pc = pc,
                        .size = static_cast<uint8_t>(size),
                        .extra = label << kOrderBits,
                        .name = reinterpret_cast<uint64_t>(name)});
}

// Of all that is read one after the other from where the next label was `mark`.
uint32_t joined_in_row(uint32_t label, uint32_t next, uint32_t mark, const void* pc) {
  label = joined({label, next}, pc);
  if (heddle_flow_state.next > mark + kManyLabels) use_again(mark, &label, 1, pc);
  return label;
}

bool is_in_one_word(const void* address, uint64_t size) {
  return reinterpret_cast<uint64_t>(address) % 8 + size <= 8;
}

// The name is that of the first byte.
const char* name_of_part(const void* whole, uint64_t part, const char* name) {
  return reinterpret_cast<uint64_t>(whole) == part ? name : nullptr;
}

// What is larger than a word is read and written word by word, so that each word is known by itself.
uint32_t read(const void* address, uint64_t size, const char* name, const void* pc) {
  Thread* const thread = telling_thread();
  if (thread == nullptr) return 0;
  see_stack(address);
  if (is_in_one_word(address, size))
    return read_in_word(*thread, address, static_cast<uint32_t>(size), name, pc);
  uint32_t label = 0;
  const uint32_t mark = heddle_flow_state.next;
  for_each_word(reinterpret_cast<uint64_t>(address), size, [&](uint64_t at, uint32_t bytes) {
    const void* const here = reinterpret_cast<const void*>(at);
    const uint32_t next = read_in_word(*thread, here, bytes, name_of_part(address, at, name), pc);
    label = joined_in_row(label, next, mark, pc);
  });
  return label;
}

void write(const void* address, uint64_t size, const char* name, uint32_t label, const void* pc) {
  Thread* const thread = telling_thread();
  if (thread == nullptr) return;
  see_stack(address);
  label = settled(*thread, label);
  if (is_in_one_word(address, size))
    return write_in_word(*thread, address, static_cast<uint32_t>(size), name, label, pc);
  for_each_word(reinterpret_cast<uint64_t>(address), size, [&](uint64_t at, uint32_t bytes) {
    const void* const here = reinterpret_cast<const void*>(at);
    write_in_word(*thread, here, bytes, name_of_part(address, at, name), label, pc);
  });
}

}  // namespace

void forget_reads(const void* address, uint32_t size) {
  see_stack(address);
  for_each_word(reinterpret_cast<uint64_t>(address), size,
                [](uint64_t at, uint32_t) { forget_read(reinterpret_cast<const void*>(at)); });
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
  const uint32_t mark = heddle_flow_state.next;
  for_each_word(reinterpret_cast<uint64_t>(address), size_and_kind & ~kWrites,
                [&](uint64_t at, uint32_t size) {
                  const void* const here = reinterpret_cast<const void*>(at);
                  if (writes) {
                    write(here, size, nullptr, label, pc);
                  } else {
                    label = joined_in_row(label, read(here, size, nullptr, pc), mark, pc);
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
  write(to, size, name, label, HEDDLE_HERE);
}

HEDDLE_INTERPOSE uint32_t heddle_flow_read_range(const void* from, uint64_t size, const char* name) {
  return read(from, size, name, HEDDLE_HERE);
}

// After heddle_begin_atomic() and the operation. `label`: of what is written. The result: of what was read.
// An update is told with one local, which the new value comes from and the old one goes to.
HEDDLE_INTERPOSE uint32_t heddle_flow_end_atomic(const void* variable, uint64_t size, uint32_t kind,
                                                 uint32_t order, const char* name, uint32_t label) {
  const void* const pc = HEDDLE_HERE;
  forget_read(variable);
  see_stack(variable);
  Thread* const thread = telling_thread();
  if (thread != nullptr) label = settled(*thread, label);
  if (thread != nullptr && (kind & kAtomicRead) != 0)
    label = (kind & kAtomicWrite) == 0 ? fresh_label() : joined_now({label}, pc);
  told_local = label;
  if (heddle_thread_state.thread != nullptr) {
    if (!end_atomic(variable, size, kind, order, name, pc)) label = 0;  // nobody has given it a meaning
  } else if (thread != nullptr) {
    tell_atomic(*thread, variable, size, kind, order, name, pc);  // it is the only thread
  }
  told_local = 0;
  return label;
}

HEDDLE_INTERPOSE uint32_t heddle_flow_join(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e,
                                           uint32_t f) {
  return joined({a, b, c, d, e, f}, HEDDLE_HERE);
}

HEDDLE_INTERPOSE void heddle_flow_branch(uint32_t label) { branch(label, HEDDLE_HERE); }

// After a call of a function that is compiled with labels, whose arguments have these: what the result
// depends on. Where another definition has taken its place, it may not have said so.
HEDDLE_INTERPOSE uint32_t heddle_flow_after_call(const char* top, uint32_t a, uint32_t b, uint32_t c,
                                                 uint32_t d) {
  heddle_flow_state.callee = nullptr;
  end_calls(top);
  if (heddle_flow_state.result != kNoLabel) return heddle_flow_state.result;
  return joined({a, b, c, d}, HEDDLE_HERE);
}

// Before a function returns a value with this label. `mark`: the next label when it began.
HEDDLE_INTERPOSE uint32_t heddle_flow_return(uint32_t mark, uint32_t label, uint32_t is_called_by_us) {
  // Whatever a function without labels does with it.
  if (is_called_by_us == 0 && heddle_flow_state.outside != 0) branch(label, HEDDLE_HERE);
  if (!use_again_untold(mark, label) && heddle_flow_state.next - mark > kManyLabels)
    use_again(mark, &label, 1, HEDDLE_HERE);
  return label;
}

// Before a loop goes round again with values of these labels.
HEDDLE_INTERPOSE void heddle_flow_turn(uint32_t mark, uint32_t* labels, uint32_t count) {
  use_again(mark, labels, count, HEDDLE_HERE);
}

HEDDLE_INTERPOSE void heddle_flow_begin_library(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  flow_thread.library_label = joined({a, b, c, d}, HEDDLE_HERE);
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
  if (is_same == 0) return joined_now({label}, pc);
  branch(label, pc);
  return before;
}

}  // namespace heddle::runtime
