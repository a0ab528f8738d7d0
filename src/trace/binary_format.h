// The binary trace format: what stands where in a `.heddle` file. docs/design/trace-format.md tells the same
// in prose, with the checklist for changing it.
//
//     file    = file header, chunk…, index chunk, trailer
//     chunk   = chunk header, stored bytes
//     trailer = offset of the index chunk, kTrailerMagic
//
// All numbers are little endian. Ids are stored plus one, so that kNoId becomes 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/event.h"

namespace heddle {

inline constexpr std::string_view kBinaryMagic = "\x89HEDDLE\n";
inline constexpr std::string_view kTrailerMagic = "\nHEDDLE\x89";
inline constexpr uint32_t kBinaryVersion = 9;
inline constexpr uint32_t kOldestVersion =
    1;  // that can be read: 1 had no parts, 2 no look and touch, 3 no series, 4 no count, 5 no
        // checked free and at most 8 parts of a variable, 6 no numbered names and no lives in series, 7 no
        // take, drop and alive, 8 no hand-overs and no locks taken together

inline constexpr std::size_t kFileHeaderSize = 16;  // magic, version, flags (none yet)
inline constexpr std::size_t kChunkHeaderSize = 48;
inline constexpr std::size_t kTrailerSize = 16;

enum class ChunkKind : uint32_t {
  kStrings = 1,   // names of one space
  kSites = 2,     // call stacks
  kEvents = 3,    // events of one thread
  kIndex = 4,     // the headers of all chunks before it
  kParts = 5,     // variables that turned out to be several (trace/parts.h)
  kNumbered = 6,  // names of one space, that differ in a number only
};
inline constexpr std::size_t kChunkKinds = 6;
inline constexpr std::string_view kChunkKindName[kChunkKinds] = {"strings", "sites", "events",
                                                                 "index",   "parts", "numbered"};
// Of names in a row that differ in a number: how many, the first number, the bytes before it, and these.
inline constexpr uint32_t kNumberedHeadSize = 12;

constexpr std::size_t index_of(ChunkKind kind) { return static_cast<std::size_t>(kind) - 1; }

// Limits every file keeps, so that a forged header cannot make a reader allocate much.
inline constexpr uint32_t kMostPerChunk = 65536;         // events, strings, sites or parts in one chunk
inline constexpr uint32_t kMostStringBytes = 64u << 20;  // payload of a strings chunk
inline constexpr uint32_t kMostExpansion = 1024;  // payload over stored size of all that stays in memory
inline constexpr uint64_t kMostPositions = uint64_t{1} << 62;

struct ChunkHeader {
  uint64_t checksum = 0;  // of the rest of the header and the stored bytes
  ChunkKind kind = ChunkKind::kEvents;
  uint32_t detail = 0;  // events: which byte planes are stored; strings, numbered: the space; else 0
  ThreadId thread = 0;  // events: whose; else 0
  uint32_t count = 0;   // events, strings, sites, parts or headers in the payload
  uint64_t first = 0;   // events: position of the first; strings, sites, parts: id of the first; index: 0
  uint64_t last = 0;    // the same of the last; index: 0
  uint32_t stored_size =
      0;  // bytes after the header; equal to payload_size: not compressed, else zstd frames
  uint32_t payload_size = 0;  // bytes after decompression

  friend bool operator==(const ChunkHeader&, const ChunkHeader&) = default;
};

// The columns of an events chunk: 32-bit values, each split into four byte planes. Plane b of column c is bit
// 4 * c + b of ChunkHeader::detail; a plane that is all zero is not stored.
enum Column : uint8_t {
  kGapColumn,     // events of other threads since this thread's previous event; 0 for the first of the chunk
  kHeadColumn,    // operation | order << 8 | size << 16
  kObjectColumn,  // plus one
  kSiteColumn,    // plus one
  kValueColumn,   // plus one
  kLocalColumn,   // plus one
};
inline constexpr std::size_t kColumns = 6;
inline constexpr std::size_t kPlanesPerColumn = 4;
inline constexpr std::size_t kPlanes = kColumns * kPlanesPerColumn;

template <typename Number>
void put_number(std::string& to, Number number) {
  char bytes[sizeof(Number)];
  for (std::size_t i = 0; i < sizeof(Number); ++i) bytes[i] = static_cast<char>(number >> (8 * i) & 0xFF);
  to.append(bytes, sizeof(Number));
}

// The number at `from`, which must have sizeof(Number) bytes left.
template <typename Number>
Number get_number(const char* from) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number |= static_cast<Number>(static_cast<Number>(static_cast<uint8_t>(from[i])) << (8 * i));
  return number;
}

// kBinaryMagic, kBinaryVersion, no flags.
std::string file_header();
// `header` as it stands in the file, kChunkHeaderSize bytes.
void put_chunk_header(std::string& to, const ChunkHeader& header);
ChunkHeader get_chunk_header(std::string_view bytes);
// What makes `header` impossible in any file, in words; empty when it may be.
std::string_view flaw_of(const ChunkHeader& header);

}  // namespace heddle
