#include "base/string_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace heddle {

std::size_t StringTable::Hash::operator()(std::string_view text) const {
  return XXH3_64bits(text.data(), text.size());
}

uint32_t StringTable::intern(std::string_view text) {
  const std::size_t hash = Hash{}(text);
  if (auto found = ids_.find(text, hash); found != ids_.end()) return found->second;
  return append(text);
}

uint32_t StringTable::append(std::string_view text) {
  const uint32_t id = size();
  const std::string_view kept = keep(text);
  texts_.push_back(kept);
  ids_.emplace(kept, id);
  return id;
}

std::string_view StringTable::keep(std::string_view text) {
  constexpr std::size_t kBlock = 64 * 1024;
  if (text.empty()) return {};
  if (text.size() > free_size_) {
    const std::size_t size = std::max(kBlock, text.size());
    arena_.push_back(std::make_unique_for_overwrite<char[]>(size));
    free_ = arena_.back().get();
    free_size_ = size;
  }
  std::memcpy(free_, text.data(), text.size());
  const std::string_view kept(free_, text.size());
  free_ += text.size();
  free_size_ -= text.size();
  return kept;
}

}  // namespace heddle
