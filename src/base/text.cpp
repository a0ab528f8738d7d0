#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace heddle {

namespace {

// Length of the valid UTF-8 sequence at the start of `text` (no overlong forms, no surrogates), 0 if there is
// none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto in = [&](std::size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return in(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return in(1, low, high) && in(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return in(1, low, high) && in(2, 0x80, 0xBF) && in(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

// Besides the usual controls: C1 controls (U+0080 to U+009F) drive some terminals as escape sequences do, and
// direction overrides (U+202A to U+202E, U+2066 to U+2069) make a line read differently from what it says.
bool is_control(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<uint8_t>(sequence[i]); };
  if (sequence.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (sequence.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (sequence.size() != 3 || byte(0) != 0xE2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) ||
         (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
}

}  // namespace

std::string printable(std::string_view text) { return shortened(text, std::string::npos); }

std::string shortened(std::string_view text, std::size_t most) {
  std::string result;
  result.reserve(std::min(text.size(), most));
  for (std::size_t shown = 0; !text.empty();) {
    const std::size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    const bool hidden = length == 0 || is_control(sequence);
    shown += hidden ? 4 * sequence.size() : 1;
    if (shown > most) return result + "…";
    if (hidden) {
      for (const char c : sequence) result += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    } else {
      result += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + separator.size());
  }
}

std::string join_with_and(const std::vector<std::string>& items) {
  if (items.empty()) return {};
  if (items.size() == 1) return items.front();
  return fmt::format("{} and {}", fmt::join(items.begin(), items.end() - 1, ", "), items.back());
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Single letters inserted, left out or replaced, and neighbours swapped ("raec"), each counts as one error.
  const auto distance = [&](std::string_view other) {
    const std::size_t width = other.size() + 1;
    std::vector<std::size_t> cost((word.size() + 1) * width);  // of turning word[0, i) into other[0, j)
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cost[i * width + j]; };
    for (std::size_t i = 0; i <= word.size(); ++i) {
      for (std::size_t j = 0; j <= other.size(); ++j) {
        if (i == 0 || j == 0) {
          at(i, j) = i + j;
          continue;
        }
        at(i, j) = std::min(
            {at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (word[i - 1] == other[j - 1] ? 0 : 1)});
        if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1])
          at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
    return cost.back();
  };
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    // The distance is at least the difference in length; a word may be as long as a line of a file.
    if (std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size()) >= best_distance)
      continue;
    const std::size_t d = distance(candidate);
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace heddle
