// Interned strings: equal texts get equal dense ids, in order of first appearance.
//
// The texts live in an arena, so a view handed out stays valid as long as the table does. Most texts are
// short: those are looked up by their bytes packed into two numbers, without going to the arena.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace heddle {

class StringTable {
 public:
  StringTable() = default;
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;

  // The id of `text`, a new one if it was never seen.
  uint32_t intern(std::string_view text);

  // Adds `text` under the next id even if it is known already (a file's table is taken as it is).
  uint32_t append(std::string_view text);

  std::string_view operator[](uint32_t id) const { return texts_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()); }

 private:
  // A text of at most kSize bytes: the bytes in order, its size in the last one.
  struct ShortText {
    static constexpr std::size_t kSize = 15;
    explicit ShortText(std::string_view text);
    friend bool operator==(const ShortText&, const ShortText&) = default;

    uint64_t first;   // eight bytes
    uint64_t second;  // seven bytes and the size
  };
  struct Hash {
    std::size_t operator()(const ShortText& text) const { return mix(text.first ^ text.second * kSpread); }
    std::size_t operator()(std::string_view text) const;
    static constexpr uint64_t kSpread = 0xC2B2AE3D27D4EB4F;  // so that the two halves do not cancel out
  };

  // Makes the texts appended since the last time known to intern(). A table that is only appended to, as a
  // reader of files with ready-made ids does, never pays for it.
  void index_appended();
  std::string_view keep(std::string_view text);

  tsl::robin_map<ShortText, uint32_t, Hash> short_ids_;
  tsl::robin_map<std::string_view, uint32_t, Hash, std::equal_to<>,
                 std::allocator<std::pair<std::string_view, uint32_t>>, /*StoreHash=*/true>
      long_ids_;
  uint32_t indexed_ = 0;                        // ids below are in short_ids_ or long_ids_
  std::vector<std::string_view> texts_;         // by id
  std::vector<std::unique_ptr<char[]>> arena_;  // the bytes behind texts_
  char* free_ = nullptr;                        // unused part of the newest arena block
  std::size_t free_size_ = 0;                   // its size
};

}  // namespace heddle
