// Memory that ends its life takes its history along: what is put there next is something else. In between
// nobody may use it.
#include <malloc.h>
#include <sys/mman.h>

#include <cstdarg>
#include <cstdlib>

#include "runtime/flow.h"
#include "runtime/freeing.h"
#include "runtime/interpose/real.h"
#include "runtime/objects.h"
#include "runtime/shadow.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// Looking for the real one may itself free what the loader had to say before: null then, and that is lost.
decltype(::free)* real_free() {
  static __thread bool is_looking __attribute__((tls_model("initial-exec"))) = false;
  if (is_looking) return nullptr;
  is_looking = true;
  decltype(::free)* const found = REAL(free);
  is_looking = false;
  return found;
}

void end_life(void* memory, std::size_t size, const void* pc) {
  const bool is_checked = is_checked_free(pc);
  if (is_checked) check_free(memory, size, pc);
  forget(memory, size, is_checked ? kIsGone : kIsAnother, pc);
}
// The allocator's: it comes back from there, or never.
void give_back(void* memory, const void* pc) {
  if (is_built_to_follow) remove_block(memory);
  const std::size_t size = ::malloc_usable_size(memory);
  // The allocator gives large memory back to the system.
  if (size >= kLargeMemory || !is_checked_free(pc)) return end_life(memory, size, pc);
  check_free(memory, size, pc);
  forget(memory, size, kIsFreed, pc);
  mark_freed(memory, size, pc);
}
void* given(void* memory) {
  if (is_built_to_follow && memory != nullptr) add_block(memory);
  if (memory != nullptr && follows_lives()) begin_life(memory, ::malloc_usable_size(memory));
  return memory;
}
// Memory that grows or shrinks is another one, unless there is none to be had: then it is as it was.
template <class Reallocate>
void* reallocated(void* memory, const void* pc, Reallocate reallocate) {
  const std::size_t size = memory == nullptr ? 0 : ::malloc_usable_size(memory);
  if (memory != nullptr) give_back(memory, pc);
  void* const result = reallocate();
  if (result != nullptr) return given(result);
  begin_life(memory, size);
  if (is_built_to_follow && memory != nullptr) add_block(memory);
  return nullptr;
}

}  // namespace

HEDDLE_INTERPOSE void free(void* memory) {
  if (memory == nullptr) return;
  give_back(memory, HEDDLE_HERE);
  if (decltype(::free)* const real = real_free(); real != nullptr) real(memory);
}

HEDDLE_INTERPOSE void* malloc(std::size_t size) { return given(REAL(malloc)(size)); }
HEDDLE_INTERPOSE void* calloc(std::size_t count, std::size_t size) {
  return given(REAL(calloc)(count, size));
}
HEDDLE_INTERPOSE void* memalign(std::size_t alignment, std::size_t size) {
  return given(REAL(memalign)(alignment, size));
}
HEDDLE_INTERPOSE void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return given(REAL(aligned_alloc)(alignment, size));
}
HEDDLE_INTERPOSE int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  const int result = REAL(posix_memalign)(memory, alignment, size);
  if (result == 0) given(*memory);
  return result;
}
HEDDLE_INTERPOSE void* valloc(std::size_t size) { return given(REAL(valloc)(size)); }
HEDDLE_INTERPOSE void* pvalloc(std::size_t size) { return given(REAL(pvalloc)(size)); }

HEDDLE_INTERPOSE void* realloc(void* memory, std::size_t size) {
  return reallocated(memory, HEDDLE_HERE, [&] { return REAL(realloc)(memory, size); });
}
HEDDLE_INTERPOSE void* reallocarray(void* memory, std::size_t count, std::size_t size) {
  return reallocated(memory, HEDDLE_HERE, [&] { return REAL(reallocarray)(memory, count, size); });
}

HEDDLE_INTERPOSE void* mmap(void* memory, std::size_t size, int protection, int flags, int file,
                            off_t offset) {
  void* const mapped = REAL(mmap)(memory, size, protection, flags, file, offset);
  // Also where nobody asked for this place: the allocator may have given it back to the system. It has no
  // more than that in one piece, and to look through the address space that some programs reserve takes long.
  constexpr std::size_t kMostOfAllocator = std::size_t{1} << 30;
  if (mapped != MAP_FAILED && ((flags & MAP_FIXED) != 0 || size <= kMostOfAllocator)) forget(mapped, size);
  return mapped;
}

HEDDLE_INTERPOSE void* mremap(void* memory, std::size_t old_size, std::size_t new_size, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  void* const mapped = REAL(mremap)(memory, old_size, new_size, flags, wanted);
  if (mapped != MAP_FAILED && (mapped != memory || new_size < old_size)) forget(memory, old_size);
  if (mapped != MAP_FAILED && wanted != nullptr) forget(mapped, new_size);
  return mapped;
}

HEDDLE_INTERPOSE int munmap(void* memory, std::size_t size) {
  end_life(memory, size, HEDDLE_HERE);
  return REAL(munmap)(memory, size);
}

}  // namespace heddle::runtime
