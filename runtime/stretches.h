// Numbers for what the shadow's words point to (runtime/layout.h).
//
// A *stretch* is what one thread does between two of its synchronizations; its entry says which thread and
// which time. What it does with atomic operations has a number of its own (kAtomics): those never race with
// each other. A *group* stands for several stretches that read the same memory, unordered. A *layer* lies
// over another word: the bytes that the word with its number names belong to its stretch or group, the others
// are as the word below says. So any history of 4 bytes is one word, and a change of it one exchange.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/layout.h"

namespace heddle::runtime {

using Number = uint32_t;

// Several unordered readers of the same memory. Immutable.
struct Group {
  uint32_t count;
  Number members[];
};

class Entry {
 public:
  enum class Kind : uint8_t { kStretch, kGroup, kLayer, kAtomics };
  static constexpr unsigned kTimeBits = 40;
  static constexpr uint32_t kSlotMask = (uint32_t{1} << 22) - 1;

  constexpr Entry() = default;
  static constexpr Entry stretch(uint32_t slot, uint64_t time) {
    return Entry(uint64_t{slot} << kTimeBits | time);
  }
  static constexpr Entry atomics(uint32_t slot, uint64_t time) {
    return Entry(uint64_t{3} << 62 | uint64_t{slot} << kTimeBits | time);
  }
  static Entry group(const Group* group) {
    return Entry(uint64_t{1} << 62 | reinterpret_cast<uint64_t>(group));
  }
  static Entry layer(Number upper, uint32_t below) {
    return Entry(uint64_t{2} << 62 | uint64_t{upper} << 32 | below);
  }

  Kind kind() const { return static_cast<Kind>(bits_ >> 62); }
  uint32_t slot() const { return static_cast<uint32_t>(bits_ >> kTimeBits) & kSlotMask; }
  uint64_t time() const { return bits_ & ((uint64_t{1} << kTimeBits) - 1); }
  const Group& group() const { return *reinterpret_cast<const Group*>(bits_ & ((uint64_t{1} << 62) - 1)); }
  Number upper() const { return static_cast<Number>(bits_ >> 32) & kNumberMask; }
  uint32_t below() const { return static_cast<uint32_t>(bits_); }
  friend bool operator==(Entry, Entry) = default;

 private:
  constexpr explicit Entry(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

extern Entry* entries;  // by number; 0 is never used

void reserve_entries();
// `count` consecutive numbers that nobody uses.
extern std::atomic<Number> next_number;
[[gnu::always_inline]] inline Number take_numbers(Number count) {
  const Number first = next_number.fetch_add(count, std::memory_order_relaxed);
  if (first > kNumberMask - count) __builtin_trap();
  return first;
}
// The number of a group or layer; the same for the same.
Number number_of_layer(Number upper, uint32_t below);
Number number_of_group(const Number* members, uint32_t count);  // sorted

[[gnu::always_inline]] inline Number number_of(uint32_t word) { return word & kNumberMask; }
[[gnu::always_inline]] inline uint32_t bytes_of(uint32_t word) { return word >> kNumberBits; }
[[gnu::always_inline]] inline uint64_t twice(uint32_t word) { return uint64_t{word} << 32 | word; }

}  // namespace heddle::runtime
