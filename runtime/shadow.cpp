#include "runtime/shadow.h"

#include <cstdint>

#include "runtime/layout.h"
#include "runtime/memory.h"

namespace heddle::runtime {

char* shadow_base = nullptr;

namespace {

// Ranges from here on are given back to the system, not only cleared.
constexpr std::size_t kLarge = std::size_t{1} << 16;

}  // namespace

void reserve_shadow() {
  shadow_base = static_cast<char*>(reserve(uint64_t{2} << kAddressBits, "the state of the program's memory"));
}

void forget(const void* memory, std::size_t size) {
  if (shadow_base == nullptr || size == 0) return;
  const auto first = reinterpret_cast<uint64_t>(memory) & kAddressMask & ~uint64_t{7};
  const auto last = ((reinterpret_cast<uint64_t>(memory) & kAddressMask) + size + 7) & ~uint64_t{7};
  char* const begin = shadow_base + 2 * first;
  const std::size_t bytes = 2 * (last - first);
  if (bytes >= kLarge) {
    clear_and_give_back(begin, bytes);
  } else {
    __builtin_memset(begin, 0, bytes);
  }
}

}  // namespace heddle::runtime
