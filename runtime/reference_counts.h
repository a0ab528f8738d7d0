// How many shared_ptr an object has, as a value of programs that tell their data flow.
//
// Counts order threads (runtime/sync.h). That tasks copy and drop pointers to an object by turns matters to
// nobody, unless somebody looks: use_count(), weak_ptr::lock(), expired(). Two locations are told, both of
// them with `count`, which is the same in any order: what others count is an order of tasks only for those
// who look (docs/design/dataflow.md).
//  - The count: each change; use_count() reads it.
//  - The life: who looks whether there is a pointer left is not to be told of those that a task has for a
//    while and drops again. So it is what a task drops without having taken it, what it keeps of the pointers
//    that it took, and that the last one is dropped.
#pragma once

#include <cstdint>

#include "runtime/blocks.h"
#include "runtime/growing_array.h"

namespace heddle::runtime {

// What a thread has taken and not yet dropped, for each task and `if (HEDDLE_MAYBE)` that it is in.
struct HeldPointers {
  const void* counts;
  uint32_t scope;   // how many tasks and `if (HEDDLE_MAYBE)` are around
  uint32_t number;  // of pointers; 0: the place is free
  uint32_t deaths;  // that were known when it was taken
};

// By the address of the counts, in a table with open places.
class Held {
 public:
  // The place for these counts; one that is free if there are none.
  HeldPointers& at(const void* counts, uint32_t scope);
  void taken(HeldPointers& place, const void* counts, uint32_t scope, uint32_t deaths);
  void dropped(HeldPointers& place);
  // Calls visit(counts) for those of the scope, which are then forgotten.
  template <class Visit>
  void end(uint32_t scope, Visit visit) {
    if (used_ == 0) return;
    for (uint32_t i = 0; i < places_; ++i)
      while (table_[i].number != 0 && table_[i].scope == scope) {
        const void* const counts = table_[i].counts;
        remove(i);
        visit(counts);
      }
  }
  void give_back();

 private:
  uint32_t place_of(const void* counts, uint32_t scope) const;
  void remove(uint32_t at);
  void grow();

  HeldPointers* table_ = nullptr;
  uint32_t places_ = 0;  // a power of two
  uint32_t used_ = 0;
};

// The counts that the operation is about; null: a weak_ptr to nothing.
const void* counts_of(HeddleLibraryOperation operation, const void* object);
// Around what the library does: the order in which it is told is the one in which it happens.
void begin_count(HeddleLibraryOperation operation, const void* counts);
void end_count(HeddleLibraryOperation operation, bool succeeded, const void* pc);
// The task, the `if (HEDDLE_MAYBE)` or the thread ends.
void end_held(const void* pc);

}  // namespace heddle::runtime
