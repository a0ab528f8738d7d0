#include "base/packed_bytes.h"

#include <zstd.h>

#include <new>

namespace heddle {

void BytePacker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void BytePacker::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

PackedBytes BytePacker::pack(std::span<const std::byte> bytes) {
  constexpr int kFastest = 1;
  if (packing_ == nullptr) packing_.reset(ZSTD_createCCtx());
  if (packing_ == nullptr) throw std::bad_alloc();
  room_.resize(ZSTD_compressBound(bytes.size()));
  const std::size_t size =
      ZSTD_compressCCtx(packing_.get(), room_.data(), room_.size(), bytes.data(), bytes.size(), kFastest);
  if (ZSTD_isError(size)) throw std::bad_alloc();  // with room for the bound, only memory can be short
  return {room_.data(), size};
}

void BytePacker::unpack(const PackedBytes& packed, std::span<std::byte> bytes) {
  if (unpacking_ == nullptr) unpacking_.reset(ZSTD_createDCtx());
  if (unpacking_ == nullptr) throw std::bad_alloc();
  const std::size_t size =
      ZSTD_decompressDCtx(unpacking_.get(), bytes.data(), bytes.size(), packed.data(), packed.size());
  if (size != bytes.size()) throw std::bad_alloc();  // likewise
}

}  // namespace heddle
