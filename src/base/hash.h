// Hashing of packed integer keys, for hash tables with a power-of-two number of buckets: std::hash leaves
// integers as they are, and keys such as id << 32 | id would then all meet in a few buckets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle {

// A bijection of 64 bits in which every input bit reaches the low bits of the output.
constexpr uint64_t mix(uint64_t key) {
  key ^= key >> 32;
  key *= 0x9E3779B97F4A7C15;
  key ^= key >> 29;
  key *= 0xBF58476D1CE4E5B9;
  return key ^ key >> 32;
}

struct MixHash {
  std::size_t operator()(uint64_t key) const { return mix(key); }
};

}  // namespace heddle
