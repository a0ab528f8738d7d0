// Small helpers for text that came from outside.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// `text` with control bytes and invalid UTF-8 made visible (\x1b, \xff), so that a name from a trace can
// neither drive a terminal nor break a JSON document.
std::string printable(std::string_view text);

// The same, ending in … after `most` characters if there are more: a message stays readable whatever it
// names.
std::string shortened(std::string_view text, std::size_t most = 80);

// The pieces of `text` between occurrences of `separator`; at least one piece.
std::vector<std::string_view> split(std::string_view text, std::string_view separator);

// "a", "a and b", "a, b and c".
std::string join_with_and(const std::vector<std::string>& items);

// "1 event", "2 events".
std::string counted(std::size_t count, std::string_view noun);

// The candidate that `word` most likely is a misspelling of, or empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace heddle
