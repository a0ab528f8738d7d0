// Walks through the events of one chunk, a block at a time, and puts them where they belong in the merged
// trace.
//
// The payload stays as byte planes (a few bytes an event); only a small block is held decoded, so that
// thousands of threads' chunks can be open at once. Decoding and checking a block are loops over whole
// columns without branches, which the compiler turns into vector code.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trace/binary_format.h"
#include "trace/names.h"

namespace heddle {

// What the fields of an event may be in a trace with given tables. All ids are as stored, plus one.
class EventLimits {
 public:
  EventLimits() = default;
  explicit EventLimits(const Names& names);

  // Whether all of a block's events are possible; columns as decoded, `count` values each.
  bool accepts(const std::array<const uint32_t*, kColumns>& columns, std::size_t count, bool has_value,
               bool has_local) const;
  // What is wrong with an event that is not, in words.
  std::string flaw_of(const std::array<uint32_t, kColumns>& event) const;

 private:
  struct Range {
    uint32_t least = kNoId;  // kNoId: no such operation
    uint32_t spread = 0;     // the largest is least + spread
  };
  static constexpr std::size_t kKeys = 1024;  // six bits of operation, three of order, one of tries

  std::array<Range, kKeys> object_;        // by operation | order << 6 | tries << 9
  std::array<uint32_t, 64> most_value_{};  // by operation
  std::array<uint32_t, 64> most_local_{};  // by operation
  uint32_t most_site_ = 0;
};

class ChunkCursor {
 public:
  // Room for the payload of the chunk with this header, to be filled before the first scatter().
  // `limits` must stay valid.
  std::span<char> open(const ChunkHeader& header, uint64_t offset, const EventLimits& limits);

  // Writes the events at positions below base + window.size() to window[position - base], continuing after
  // the last call; no event left may have a position below base. Returns how many. Throws InputError (without
  // the file's name) on an event that cannot be.
  std::size_t scatter(EventIndex base, std::span<Event> window);

  // All events have been written.
  bool exhausted() const { return next_ == filled_ && decoded_ == header_.count; }

 private:
  static constexpr std::size_t kBlock = 128;

  void decode_block();
  void decode_column(std::size_t column, std::size_t count);
  [[noreturn]] void fail(const std::string& what) const;

  ChunkHeader header_;
  uint64_t offset_ = 0;  // of the chunk in the file, for messages
  const EventLimits* limits_ = nullptr;
  std::unique_ptr<char[]> payload_;  // the stored planes one after the other, header_.count bytes each
  std::size_t capacity_ = 0;         // of payload_
  std::array<const char*, kPlanes> plane_{};  // where each plane starts; null: all zero
  uint32_t decoded_ = 0;                      // events decoded so far, the current block included
  uint32_t filled_ = 0;                       // events in the current block
  uint32_t next_ = 0;                         // next event of the block to write
  uint64_t distance_ = 0;                     // of the last decoded event's position from header_.first - 1
  // The current block, a column each; a gap is replaced by the position's distance from header_.first.
  std::array<std::array<uint32_t, kBlock>, kColumns> block_;
};

}  // namespace heddle
