// A call of a function of the C library (runtime/libc_functions.h) by code at `pc`: what it does to the
// program's memory.
#pragma once

#include <cerrno>
#include <cstddef>

#include "runtime/access.h"
#include "runtime/flow.h"
#include "runtime/interpose/real.h"
#include "runtime/layout.h"

// heddle_libc_NAME: HEDDLE_LIBC(int, atoi, const char* text) { … }
#define HEDDLE_LIBC(result, name, ...) HEDDLE_INTERPOSE result heddle_libc_##name(__VA_ARGS__)

// Refers to heddle_libc_NAME, so that none of a list is forgotten.
#define HEDDLE_LIBC_ADDRESS(name, type) reinterpret_cast<const void*>(&heddle_libc_##name),

namespace heddle::runtime {

class LibcCall {
 public:
  explicit LibcCall(const void* pc) : pc_(pc) {}

  const void* pc() const { return pc_; }
  // Otherwise nothing has to be found out: the program has one thread, or is not checked.
  bool is_checked() const { return heddle_thread_state.thread != nullptr || follows_data; }

  void reads(const void* memory, std::size_t size) const { access(memory, size, 0); }
  void writes(const void* memory, std::size_t size) const { access(memory, size, kWrites); }
  // Up to and with the 0 at its end.
  void reads_text(const char* text) const {
    if (is_checked() && text != nullptr) reads(text, __builtin_strlen(text) + 1);
  }
  template <class T>
  void writes_object(T* object) const {
    if (object != nullptr) writes(object, sizeof(T));
  }
  template <class T>
  void reads_object(const T* object) const {
    if (object != nullptr) reads(object, sizeof(T));
  }

 private:
  void access(const void* memory, std::size_t size, uint64_t kind) const {
    if (!is_checked() || memory == nullptr || size == 0) return;
    const int error = errno;
    if (follows_data) {
      library_access(memory, size | kind, pc_);
    } else {
      access_memory(memory, size | kind, pc_);
    }
    errno = error;
  }

  const void* pc_;
};

}  // namespace heddle::runtime
