// Memory that is freed while another thread may still use it.
#pragma once

#include <cstddef>

namespace heddle::runtime {

// Whether memory that is given back at `pc` is checked: there are several threads, and it is the program's.
bool is_checked_free(const void* pc);

// The calling thread is about to give the memory back, at `pc`. Whatever another thread did to it must be
// ordered before that; if it is not, that is a race. Says so once, of the first such access found.
void check_free(const void* memory, std::size_t size, const void* pc);

// Until the memory begins another life (begin_life), it counts as written by the free: an access that is not
// ordered after that is a race. Not for large memory (kLargeMemory), which the allocator gives back to the
// system.
void mark_freed(const void* memory, std::size_t size, const void* pc);

}  // namespace heddle::runtime
