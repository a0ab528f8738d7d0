// Interned strings: equal texts get equal dense ids, in order of first appearance.
//
// The texts live in an arena, so a view handed out stays valid as long as the table does.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

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
  struct Hash {
    std::size_t operator()(std::string_view text) const;
  };

  std::string_view keep(std::string_view text);

  tsl::robin_map<std::string_view, uint32_t, Hash, std::equal_to<>,
                 std::allocator<std::pair<std::string_view, uint32_t>>, /*StoreHash=*/true>
      ids_;
  std::vector<std::string_view> texts_;         // by id
  std::vector<std::unique_ptr<char[]>> arena_;  // the bytes behind texts_
  char* free_ = nullptr;                        // unused part of the newest arena block
  std::size_t free_size_ = 0;                   // its size
};

}  // namespace heddle
