#include "base/string_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace heddle {

namespace {

template <typename Number>
uint64_t load(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof(Number));
  return number;
}

}  // namespace

// Loads of a fixed size that may overlap are much faster than a copy of `size` bytes.
StringTable::ShortText::ShortText(std::string_view text) : first(0), second(uint64_t{text.size()} << 56) {
  const char* const bytes = text.data();
  const std::size_t size = text.size();
  if (size >= 8) {
    first = load<uint64_t>(bytes);
    if (size > 8) second |= load<uint64_t>(bytes + size - 8) >> (8 * (16 - size));
  } else if (size >= 4) {
    first = load<uint32_t>(bytes) | load<uint32_t>(bytes + size - 4) << (8 * (size - 4));
  } else if (size > 0) {
    first = load<uint8_t>(bytes) | load<uint8_t>(bytes + size / 2) << (8 * (size / 2)) |
            load<uint8_t>(bytes + size - 1) << (8 * (size - 1));
  }
}

std::size_t StringTable::Hash::operator()(std::string_view text) const {
  return XXH3_64bits(text.data(), text.size());
}

uint32_t StringTable::intern(std::string_view text) {
  if (indexed_ != size()) [[unlikely]]
    index_appended();
  if (text.size() > ShortText::kSize) {
    if (const auto found = long_ids_.find(text); found != long_ids_.end()) return found->second;
  } else {
    if (const auto found = short_ids_.find(ShortText(text)); found != short_ids_.end()) return found->second;
  }
  return append(text);
}

uint32_t StringTable::append(std::string_view text) {
  texts_.push_back(keep(text));
  return size() - 1;
}

void StringTable::index_appended() {
  for (; indexed_ < size(); ++indexed_) {
    const std::string_view text = texts_[indexed_];
    // Of equal texts the first keeps its place.
    if (text.size() > ShortText::kSize) {
      long_ids_.emplace(text, indexed_);
    } else {
      short_ids_.emplace(ShortText(text), indexed_);
    }
  }
}

std::string_view StringTable::keep(std::string_view text) {
  constexpr std::size_t kBlock = std::size_t{64} * 1024;
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
