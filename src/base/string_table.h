// Interned strings: equal texts get equal dense ids, in order of first appearance.
//
// The texts live in an arena, so a view handed out stays valid as long as the table does. Most texts are
// short: those are looked up by their bytes packed into two numbers, without going to the arena. Texts that
// are numbered in a row are made when they are asked for.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <string>
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

  // Adds texts under the next ids: "x#7", "x#8", … are `before` and a number each. They take no room until
  // somebody asks for one.
  uint32_t append_numbered(std::string_view before, uint32_t number, uint32_t count);

  std::string_view operator[](uint32_t id) const { return runs_.empty() ? texts_[id] : find(id); }
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()) + numbered_; }

  // Texts from one id on that were added so.
  struct Numbered {
    std::string_view before;
    uint32_t number = 0;
    uint32_t count = 0;  // 0: the id's text was added otherwise
  };
  Numbered numbered_from(uint32_t id) const;

  // "x#" and 7: "x#7".
  static void add_numbered(std::string& to, std::string_view before, uint32_t number);

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
  std::string_view keep(std::string_view text) const;

  struct Run {
    uint32_t first;  // id
    uint32_t count;
    uint32_t numbered;  // texts of all runs up to this one's end
    uint32_t number;
    std::string_view before;
  };
  // The last that begins at the id or before; null: there is none.
  const Run* run_before(uint32_t id) const;
  std::string_view find(uint32_t id) const;

  tsl::robin_map<ShortText, uint32_t, Hash> short_ids_;
  tsl::robin_map<std::string_view, uint32_t, Hash, std::equal_to<>,
                 std::allocator<std::pair<std::string_view, uint32_t>>, /*StoreHash=*/true>
      long_ids_;
  uint32_t indexed_ = 0;                 // ids below are in short_ids_ or long_ids_
  std::vector<std::string_view> texts_;  // of ids in no run, in their order
  std::vector<Run> runs_;                // by their first id
  uint32_t numbered_ = 0;                // texts of runs_
  // What is made for those who ask.
  mutable tsl::robin_map<uint32_t, std::string_view, MixHash> made_;  // by id
  mutable std::vector<std::unique_ptr<char[]>> arena_;                // the bytes behind the texts
  mutable char* free_ = nullptr;                                      // unused part of the newest arena block
  mutable std::size_t free_size_ = 0;                                 // its size
};

}  // namespace heddle
