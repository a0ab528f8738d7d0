// Numbers for what the shadow's words point to (runtime/layout.h).
//
// A *stretch* is what one thread does between two of its synchronizations; its entry says which thread and
// which time. What it does with atomic operations has a number of its own (kAtomics): those never race with
// each other. A *group* stands for several stretches that read the same memory, unordered; an open one for
// those that its readers say it has (runtime/open_groups.h). A *layer* lies
// over another word: the bytes that the word with its number names belong to its stretch or group, the others
// are as the word below says. So any history of 4 bytes is one word, and a change of it one exchange.
//
// Numbers that no word refers to any more are used again (runtime/sweep.h).
#pragma once

#include <cstdint>

#include "runtime/layout.h"

namespace heddle::runtime {

using Number = uint32_t;

// More than two unordered readers of the same memory. Immutable.
struct Group {
  Group* next;  // of those that the same thread made (runtime/groups.h)
  Number number;
  uint32_t count;
  Number members[];

  static std::size_t bytes(uint32_t count) { return sizeof(Group) + count * sizeof(Number); }
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
  // A group of two needs no memory of its own.
  static Entry pair(Number first, Number second) {
    return Entry(uint64_t{1} << 62 | kIsPair | uint64_t{first} << kNumberBits | second);
  }
  // Those that belong to it keep at `place` which of their stretches do: readers, or who does atomic updates.
  static Entry open(uint32_t place, bool is_of_cell, bool is_of_updates) {
    return Entry(uint64_t{1} << 62 | kIsOpen | uint64_t{is_of_updates} << 33 | uint64_t{is_of_cell} << 32 |
                 place);
  }
  static Entry layer(Number upper, uint32_t below) {
    return Entry(uint64_t{2} << 62 | uint64_t{upper} << 32 | below);
  }

  Kind kind() const { return static_cast<Kind>(bits_ >> 62); }
  uint32_t slot() const { return static_cast<uint32_t>(bits_ >> kTimeBits) & kSlotMask; }
  uint64_t time() const { return bits_ & ((uint64_t{1} << kTimeBits) - 1); }
  bool is_open() const { return kind() == Kind::kGroup && (bits_ & (kIsPair | kIsOpen)) == kIsOpen; }
  uint32_t place() const { return static_cast<uint32_t>(bits_); }
  bool is_of_cell() const { return (bits_ >> 32 & 1) != 0; }
  bool is_of_updates() const { return (bits_ >> 33 & 1) != 0; }
  // Of groups that are not open:
  uint32_t member_count() const { return is_pair() ? 2 : group().count; }
  Number member(uint32_t i) const {
    if (!is_pair()) return group().members[i];
    return static_cast<Number>(i == 0 ? bits_ >> kNumberBits : bits_) & kNumberMask;
  }
  Number upper() const { return static_cast<Number>(bits_ >> 32) & kNumberMask; }
  uint32_t below() const { return static_cast<uint32_t>(bits_); }
  friend bool operator==(Entry, Entry) = default;

 private:
  static constexpr uint64_t kIsPair = uint64_t{1} << 61;
  static constexpr uint64_t kIsOpen = uint64_t{1} << 60;

  constexpr explicit Entry(uint64_t bits) : bits_(bits) {}
  bool is_pair() const { return (bits_ & kIsPair) != 0; }
  const Group& group() const { return *reinterpret_cast<const Group*>(bits_ & (kIsOpen - 1)); }

  uint64_t bits_ = 0;
};

extern Entry* entries;  // by number; 0 is never used

// Groups made of late, by the sum of their mixed members (runtime/access_check.h). Threads that read the same
// memory in different orders find the group that is there already: one number for the same readers is what
// makes their next reads cheap, and keeps groups few: eight threads that read a vector at random make
// hundreds that recur. Two that are in each other's way would be made again and again, each time with a new
// number that makes others new; so several have room at each place.
struct RecentGroups {
  static constexpr unsigned kMost = 4;
  Number numbers[kMost];  // 0: none
};
constexpr uint32_t kRecentGroups = 2048;
extern RecentGroups recent_groups[kRecentGroups];
void forget_recent_groups();  // numbers may mean something else from now on

void reserve_entries();

[[gnu::always_inline]] inline Number number_of(uint32_t word) { return word & kNumberMask; }
[[gnu::always_inline]] inline uint32_t bytes_of(uint32_t word) { return word >> kNumberBits; }
[[gnu::always_inline]] inline uint64_t twice(uint32_t word) { return uint64_t{word} << 32 | word; }

}  // namespace heddle::runtime
