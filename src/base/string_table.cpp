#include "base/string_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

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

uint32_t StringTable::append_numbered(std::string_view before, uint32_t number, uint32_t count) {
  const uint32_t first = size();
  if (count == 0) return first;
  numbered_ += count;
  if (!runs_.empty()) {
    Run& last = runs_.back();
    if (last.first + last.count == first && last.number + last.count == number && last.before == before) {
      last.count += count;
      last.numbered = numbered_;
      return first;
    }
  }
  runs_.push_back({first, count, numbered_, number, keep(before)});
  return first;
}

void StringTable::add_numbered(std::string& to, std::string_view before, uint32_t number) {
  char digits[10];
  const auto written = std::to_chars(digits, digits + sizeof(digits), number);
  to += before;
  to.append(digits, written.ptr);
}

const StringTable::Run* StringTable::run_before(uint32_t id) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), id,
                                      [](uint32_t wanted, const Run& run) { return wanted < run.first; });
  return after == runs_.begin() ? nullptr : &*std::prev(after);
}

StringTable::Numbered StringTable::numbered_from(uint32_t id) const {
  const Run* const run = run_before(id);
  if (run == nullptr || id - run->first >= run->count) return {};
  const uint32_t skipped = id - run->first;
  return {run->before, run->number + skipped, run->count - skipped};
}

std::string_view StringTable::find(uint32_t id) const {
  const Run* const run = run_before(id);
  if (run == nullptr) return texts_[id];
  if (id - run->first >= run->count) return texts_[id - run->numbered];
  const auto [made, is_new] = made_.try_emplace(id);
  if (is_new) {
    std::string text;
    add_numbered(text, run->before, run->number + (id - run->first));
    made.value() = keep(text);
  }
  return made->second;
}

void StringTable::index_appended() {
  for (; indexed_ < size(); ++indexed_) {
    const std::string_view text = (*this)[indexed_];
    // Of equal texts the first keeps its place.
    if (text.size() > ShortText::kSize) {
      long_ids_.emplace(text, indexed_);
    } else {
      short_ids_.emplace(ShortText(text), indexed_);
    }
  }
}

std::string_view StringTable::keep(std::string_view text) const {
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
