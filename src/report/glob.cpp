#include "report/glob.h"

#include <cstddef>
#include <cstdint>

namespace heddle {

namespace {

// Index after the character at `at`: a UTF-8 sequence, or a byte where there is none.
std::size_t after_character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<uint8_t>(text[i]); };
  const bool leads = byte(at) >= 0xC0;
  for (++at; leads && at < text.size() && (byte(at) & 0xC0) == 0x80;) ++at;
  return at;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = kNone;   // the last * passed, in the pattern
  std::size_t star_text = 0;  // where the text goes on after what that * stands for
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      t = after_character(text, t);
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != kNone) {
      p = star + 1;
      t = star_text = after_character(text, star_text);
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

}  // namespace heddle
