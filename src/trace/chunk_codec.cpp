#include "trace/chunk_codec.h"

#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace heddle {

namespace {

// Level 1 with no matches below seven bytes: in byte planes short matches are chance, and following them
// costs more than the plain Huffman code of their bytes, in size and in time. Higher levels gain nothing on
// them.
constexpr int kLevel = 1;
constexpr int kShortestMatch = 7;

// A piece smaller than this is not worth a frame of its own.
constexpr std::size_t kSmallestPiece = 512;

}  // namespace

uint64_t chunk_checksum(const ChunkHeader& header, std::string_view stored) {
  std::string bytes;
  bytes.reserve(kChunkHeaderSize);
  put_chunk_header(bytes, header);
  const std::string_view fields = std::string_view(bytes).substr(sizeof(header.checksum));
  return XXH3_64bits_withSeed(stored.data(), stored.size(), XXH3_64bits(fields.data(), fields.size()));
}

struct ChunkPacker::Context {
  Context() {
    if (zstd == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, kShortestMatch);
  }
  ~Context() { ZSTD_freeCCtx(zstd); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ZSTD_CCtx* zstd = ZSTD_createCCtx();
};

ChunkPacker::ChunkPacker() : context_(std::make_unique<Context>()) {}
ChunkPacker::~ChunkPacker() = default;

std::string_view ChunkPacker::pack(ChunkHeader& header, std::string_view payload, std::size_t piece) {
  if (piece < kSmallestPiece) piece = payload.size();
  stored_.clear();
  for (std::size_t done = 0; done < payload.size(); done += piece) {
    const std::string_view part = payload.substr(done, piece);
    const std::size_t before = stored_.size();
    stored_.resize(before + ZSTD_compressBound(part.size()));
    const std::size_t size = ZSTD_compress2(context_->zstd, stored_.data() + before, stored_.size() - before,
                                            part.data(), part.size());
    if (ZSTD_isError(size)) throw std::bad_alloc();  // with room for the bound, only memory can be short
    stored_.resize(before + size);
  }
  std::string_view stored = stored_;
  if (stored.size() >= payload.size() || payload.size() / kMostExpansion > stored.size()) stored = payload;
  header.payload_size = static_cast<uint32_t>(payload.size());
  header.stored_size = static_cast<uint32_t>(stored.size());
  header.checksum = chunk_checksum(header, stored);
  chunk_.clear();
  put_chunk_header(chunk_, header);
  chunk_ += stored;
  return chunk_;
}

bool unpack(const ChunkHeader& header, std::string_view stored, std::span<char> payload) {
  if (header.stored_size == header.payload_size) {
    std::copy(stored.begin(), stored.end(), payload.begin());
    return true;
  }
  // The context is large and holds nothing from one call to the next, so all readers of a thread share it.
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  static thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  return ZSTD_decompressDCtx(context.get(), payload.data(), payload.size(), stored.data(), stored.size()) ==
         payload.size();
}

}  // namespace heddle
