#include "report/layout.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace heddle {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Characters that take no column: combining marks, joiners, variation selectors.
constexpr std::array<Range, 4> kZeroWidth = {
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};

// Blocks of characters that take two: East Asian scripts and emoji.
constexpr std::array<Range, 9> kDoubleWidth = {{{0x1100, 0x115F},
                                                {0x2E80, 0xA4CF},
                                                {0xAC00, 0xD7A3},
                                                {0xF900, 0xFAFF},
                                                {0xFE30, 0xFE6F},
                                                {0xFF00, 0xFF60},
                                                {0xFFE0, 0xFFE6},
                                                {0x1F300, 0x1FAFF},
                                                {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return c >= r.first && c <= r.last; });
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t c = length == 1 ? first : first & (0x7FU >> length);
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      c = (c << 6) | (static_cast<uint8_t>(text[i + k]) & 0x3FU);
    if (!within(kZeroWidth, c)) width += within(kDoubleWidth, c) ? 2 : 1;
    i += length;
  }
  return width;
}

std::vector<std::string> wrap(std::string_view text, std::size_t first_width, std::size_t width) {
  std::vector<std::string> lines;
  std::size_t used = 0;  // columns of lines.back()
  for (const std::string_view word : split(text, " ")) {
    if (word.empty()) continue;
    const std::size_t columns = display_width(word);
    const std::size_t limit = lines.size() <= 1 ? first_width : width;
    if (!lines.empty() && used + 1 + columns <= limit) {
      lines.back() += ' ';
      lines.back() += word;
      used += 1 + columns;
    } else {
      lines.emplace_back(word);
      used = columns;
    }
  }
  return lines;
}

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string grouped(uint64_t number, std::string_view noun) {
  std::string text = grouped(number);
  text += ' ';
  text += noun;
  if (number != 1) text += 's';
  return text;
}

}  // namespace heddle
