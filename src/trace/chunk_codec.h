// Between a chunk's payload and its bytes in the file: compression and checksum.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trace/binary_format.h"

namespace heddle {

// The checksum a chunk with this header and these stored bytes has.
uint64_t chunk_checksum(const ChunkHeader& header, std::string_view stored);

// Compresses payloads into chunks.
class ChunkPacker {
 public:
  ChunkPacker();
  ~ChunkPacker();
  ChunkPacker(const ChunkPacker&) = delete;
  ChunkPacker& operator=(const ChunkPacker&) = delete;

  // The chunk of `payload`, ready to be written. Fills in the header's sizes and checksum. The payload is
  // compressed in pieces of `piece` bytes: byte planes differ too much to share their statistics. The view is
  // valid until the next call.
  std::string_view pack(ChunkHeader& header, std::string_view payload, std::size_t piece);

 private:
  struct Context;                     // of zstd
  std::unique_ptr<Context> context_;  // reused between chunks
  std::string stored_;                // the compressed payload
  std::string chunk_;                 // the latest chunk
};

// Decompresses the stored bytes of a chunk whose header has passed flaw_of() into `payload`, which has
// header.payload_size bytes. False when they are not what the header says.
bool unpack(const ChunkHeader& header, std::string_view stored, std::span<char> payload);

}  // namespace heddle
