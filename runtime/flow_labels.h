// What a thread knows of its labels (runtime/flow.h), so that few events tell all that there is to tell:
//
// - What a value is computed from is told when the value is stored, handed over or decides something, and
//   then in one assignment with what that was computed from. What is never used is never told.
// - The same read again, with no write in between, is the same event; so is a second branch on a label.
// - What was branched on where nothing can leave the branch out is *decided*: it matters, whatever else
//   depends on it, so that nobody need be told what else does.
//
// The first two hold at one place of the trace (FlowThread::era): an `if (HEDDLE_MAYBE)` or a task begins
// another.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "runtime/flow_thread.h"

namespace heddle::runtime {

extern bool tells_every_step;  // HEDDLE_EVERY_STEP=1: none of that, to compare

// 0: there are no more.
uint32_t fresh_label();
// So many in a row, the first of them. `are_kept`: values have them when the next ones are made; else
// release_labels() comes before. If there are no more, they are some that values may have.
uint32_t fresh_labels(uint32_t count, bool are_kept);
void release_labels(uint32_t first);

// The label of what is computed from values with these; `now`: told here, and its own if there is but one.
using LabelList = std::initializer_list<uint32_t>;
uint32_t joined(LabelList labels, const void* pc);
uint32_t joined_now(LabelList labels, const void* pc);

// Tells what the label is, if that was put off. The label to be named in its place: 0 if it is decided.
uint32_t settled(Thread& thread, uint32_t label);

// The label is told to be of another value.
void renew(uint32_t label);

void branch(uint32_t label, const void* pc);
// The same, told in another way.
void know_branch(uint32_t label);

// Labels from `mark` on are used again, except that what has these labels has others from now on.
void use_again(uint32_t mark, uint32_t* labels, uint32_t count, const void* pc);
// The same of one label, where that need not be told; it is 0 then, or from before the mark.
bool use_again_untold(uint32_t mark, uint32_t& label);

// Whether there was the same read before, and its label. `stamp`: of the stretch (runtime/layout.h);
// `written`: the state of the memory, which says who wrote it last.
bool known_read(const void* address, uint32_t size, uint64_t stamp, uint64_t written, uint32_t& label);
void know_read(const void* address, uint32_t size, uint64_t stamp, uint64_t written, uint32_t label);
void forget_read(const void* address);
void forget_all_reads();

}  // namespace heddle::runtime
