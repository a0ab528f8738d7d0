// Bytes in memory that are seldom looked at, compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace heddle {

using PackedBytes = std::string;

class BytePacker {
 public:
  PackedBytes pack(std::span<const std::byte> bytes);
  // `bytes` is as long as what was packed.
  void unpack(const PackedBytes& packed, std::span<std::byte> bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
    void operator()(ZSTD_DCtx_s* context) const;
  };
  // Made when they are needed: they are large.
  std::unique_ptr<ZSTD_CCtx_s, Free> packing_;
  std::unique_ptr<ZSTD_DCtx_s, Free> unpacking_;
  std::string room_;
};

}  // namespace heddle
