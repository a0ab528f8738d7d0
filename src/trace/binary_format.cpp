#include "trace/binary_format.h"

#include <bit>

namespace heddle {

std::string file_header() {
  std::string bytes(kBinaryMagic);
  put_number(bytes, kBinaryVersion);
  put_number(bytes, uint32_t{0});
  return bytes;
}

void put_chunk_header(std::string& to, const ChunkHeader& header) {
  put_number(to, header.checksum);
  put_number(to, static_cast<uint32_t>(header.kind));
  put_number(to, header.detail);
  put_number(to, header.thread);
  put_number(to, header.count);
  put_number(to, header.first);
  put_number(to, header.last);
  put_number(to, header.stored_size);
  put_number(to, header.payload_size);
}

ChunkHeader get_chunk_header(std::string_view bytes) {
  const char* from = bytes.data();
  return {
      .checksum = get_number<uint64_t>(from),
      .kind = static_cast<ChunkKind>(get_number<uint32_t>(from + 8)),
      .detail = get_number<uint32_t>(from + 12),
      .thread = get_number<uint32_t>(from + 16),
      .count = get_number<uint32_t>(from + 20),
      .first = get_number<uint64_t>(from + 24),
      .last = get_number<uint64_t>(from + 32),
      .stored_size = get_number<uint32_t>(from + 40),
      .payload_size = get_number<uint32_t>(from + 44),
  };
}

namespace {

std::string_view flaw_of_events(const ChunkHeader& header) {
  if (header.last >= kMostPositions) return "its positions are impossibly large";
  if (header.last < header.first || header.last - header.first < header.count - 1)
    return "its positions do not hold as many events as it claims";
  if (header.last - header.first > UINT32_MAX) return "its positions are too far apart";
  if (header.detail >> kPlanes != 0) return "it has columns this version does not know";
  if (header.payload_size != uint64_t{header.count} * static_cast<uint64_t>(std::popcount(header.detail)))
    return "its size does not fit its number of events";
  return {};
}

// Pairs of ids, or texts.
// `least`: payload of a table of names; 0: it is one of pairs.
std::string_view flaw_of_table(const ChunkHeader& header, uint32_t least) {
  const bool pairs = least == 0;
  if (header.thread != 0 || header.detail >= (pairs ? 1 : kSpaces)) return "it is for an unknown table";
  if (header.first >= kNoId || header.last != header.first + header.count - 1 || header.last >= kNoId)
    return "its ids do not fit its number of entries";
  if (pairs ? header.payload_size != 8 * header.count : header.payload_size < least)
    return "its size does not fit its number of entries";
  if (header.payload_size > kMostStringBytes) return "it claims to be impossibly large";
  return {};
}

std::string_view flaw_of_index(const ChunkHeader& header) {
  if (header.thread != 0 || header.detail != 0 || header.first != 0 || header.last != 0)
    return "the index has fields it cannot have";
  if (header.payload_size != uint64_t{header.count} * kChunkHeaderSize)
    return "the size of the index does not fit its number of entries";
  return {};
}

}  // namespace

std::string_view flaw_of(const ChunkHeader& header) {
  if (header.stored_size > header.payload_size) return "it claims to be larger compressed than not";
  if (header.kind != ChunkKind::kIndex && (header.count == 0 || header.count > kMostPerChunk))
    return "it claims an impossible number of entries";
  // Events pass through; everything else stays in memory and must not grow out of proportion to the file.
  if (header.kind != ChunkKind::kEvents && header.payload_size / kMostExpansion > header.stored_size)
    return "it claims to be impossibly large";
  switch (header.kind) {
    case ChunkKind::kEvents: return flaw_of_events(header);
    case ChunkKind::kStrings: return flaw_of_table(header, 4 * header.count);
    case ChunkKind::kNumbered: return flaw_of_table(header, kNumberedHeadSize);
    case ChunkKind::kSites:
    case ChunkKind::kParts: return flaw_of_table(header, 0);
    case ChunkKind::kIndex: return flaw_of_index(header);
  }
  return "its kind is unknown";
}

}  // namespace heddle
