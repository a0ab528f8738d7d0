// Memory that ends its life takes its history along: what is put there next is something else.
#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>

#include "runtime/interpose/real.h"
#include "runtime/shadow.h"

namespace heddle::runtime {

HEDDLE_INTERPOSE void free(void* memory) {
  if (memory != nullptr) forget(memory, ::malloc_usable_size(memory));
  REAL(free)(memory);
}

HEDDLE_INTERPOSE void* realloc(void* memory, std::size_t size) {
  if (memory != nullptr) forget(memory, ::malloc_usable_size(memory));
  return REAL(realloc)(memory, size);
}

HEDDLE_INTERPOSE int munmap(void* memory, std::size_t size) {
  forget(memory, size);
  return REAL(munmap)(memory, size);
}

}  // namespace heddle::runtime
