// Where the program's objects lie, for functions that nobody can look into (runtime/flow_calls.cpp): a
// pointer that one of them is given reaches the whole object it points into, and all that the object points
// to. Known are blocks of the heap, global variables, and local variables whose address somebody has, of
// programs built with --heddle-dataflow.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/growing_array.h"

namespace heddle::runtime {

struct Object {
  const char* begin;
  std::size_t size;
};

// Of the heap, from malloc() until free(), which must not be done before this has returned.
void add_block(const void* block);
void remove_block(const void* block);

// In `size`: kNamedByOthers (runtime/flow.h).
void add_globals(const Object* globals, std::size_t count);

// Local variables of the function whose frame ends at `top`; they are gone when one further up says so.
void add_locals(const char* top, const Object* locals, std::size_t count);
void leave_locals();  // the thread ends
void leave_objects_to_parent();

// What can be reached from the pointers: objects, each once. A pointer into memory that is no known object
// reaches the 8 bytes it points to. `function`, if not null: it may use what it knows by name, and what it or
// another function of its library was given before and has kept (runtime/library_data.h).
using Objects = GrowingArray<Object>;
void reach(const void* const* pointers, uint32_t count, const void* function, Objects& objects);

}  // namespace heddle::runtime
