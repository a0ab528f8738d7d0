// How many shared_ptr an object has, as a value of programs that tell their data flow.
//
// Counts order threads (runtime/sync.h). That tasks copy and drop pointers to an object by turns matters to
// nobody, unless somebody looks: use_count(), weak_ptr::lock(), expired(). So what is told is that a pointer
// was taken or dropped, and that somebody asked whether there is one, each with how many there are; which of
// these are in an order is for ndseq to say, who knows what a task has kept (docs/design/dataflow.md).
#pragma once

#include "runtime/blocks.h"

namespace heddle::runtime {

// The counts that the operation is about; null: a weak_ptr to nothing.
const void* counts_of(HeddleLibraryOperation operation, const void* object);
// Around what the library does: the order in which it is told is the one in which it happens.
void begin_count(HeddleLibraryOperation operation, const void* counts);
void end_count(HeddleLibraryOperation operation, bool succeeded, const void* pc);

}  // namespace heddle::runtime
