// System calls that the runtime makes for itself. Those of the C library that may wait are cancellation
// points: a thread that somebody has cancelled would end in them, at a place which is none of the program's,
// where locks of the runtime are held or nobody can be unwound. These are none, and leave errno alone.
#pragma once

#include <sys/syscall.h>

#include <cstdint>
#include <type_traits>

namespace heddle::runtime {

// The result, or -errno.
template <class... Arguments>
int64_t system_call(int64_t number, Arguments... arguments) {
  static_assert(sizeof...(Arguments) <= 6);
  [[maybe_unused]] const auto word = [](auto argument) {
    if constexpr (std::is_pointer_v<decltype(argument)>) {
      return reinterpret_cast<int64_t>(argument);
    } else {
      return static_cast<int64_t>(argument);
    }
  };
  const int64_t words[6] = {word(arguments)...};
  int64_t result = number;
  register int64_t fourth asm("r10") = words[3];
  register int64_t fifth asm("r8") = words[4];
  register int64_t sixth asm("r9") = words[5];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace heddle::runtime
