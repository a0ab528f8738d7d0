// Memory of the runtime itself, from the system and never from malloc: the program may have replaced malloc,
// or be inside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace heddle::runtime {

// Address space without memory: pages come when touched. Ends the program with a message when there is none.
void* reserve(std::size_t size, const char* what);
// Gives a reserved range its memory now, if the system can do that.
void make_writable(char* begin, std::size_t size);
// Makes all bytes of a reserved range zero and gives its whole pages back.
void clear_and_give_back(char* begin, std::size_t size);

// Zeroed memory in size classes; what is freed serves requests of the same class. Thread-safe.
void* allocate(std::size_t size);
void deallocate(void* memory, std::size_t size);

// A few pieces of memory that a thread has freed and will soon want again: what it publishes at every lock
// needs no lock of ours then.
struct SpareMemory {
  struct Free {
    Free* next;
  };
  static constexpr unsigned kClasses = 5;  // 16, 32, … 256 bytes
  static constexpr uint32_t kMost = 8;     // of a class
  Free* first[kClasses] = {};
  uint32_t count[kClasses] = {};
};

// In the child after a fork: what was free or about to be given is lost.
void leave_free_memory();

template <class T, class... Arguments>
T* create(Arguments&&... arguments) {
  return new (allocate(sizeof(T))) T(std::forward<Arguments>(arguments)...);
}
template <class T>
void destroy(T* object) {
  object->~T();
  deallocate(object, sizeof(T));
}

}  // namespace heddle::runtime
