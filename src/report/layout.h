// Fitting text into columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// Columns that `text` (valid UTF-8, no control characters) takes on a terminal.
std::size_t display_width(std::string_view text);

// `text` broken at spaces into lines of at most `width` columns, the first of at most `first_width`. A word
// that is longer than a line gets one of its own. No line for an empty text.
std::vector<std::string> wrap(std::string_view text, std::size_t first_width, std::size_t width);

// "1,234,567".
std::string grouped(uint64_t number);

// "1 event", "1,234 events".
std::string grouped(uint64_t number, std::string_view noun);

}  // namespace heddle
