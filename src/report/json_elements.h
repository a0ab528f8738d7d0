// Reading large JSON documents: the elements of arrays right below the root are handed out one by one, so
// that a report of a hundred thousand findings is never in memory as a whole.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace heddle {

struct JsonSyntaxError {
  std::size_t line;    // from 1
  std::size_t column;  // in bytes, from 1
  bool is_cut_off;     // it is the end of the text that is unexpected
};

// `root` is what was read before the element, number `number` of the array named `array`. True: it has been
// dealt with and need not be kept.
using OnJsonElement = std::function<bool(const nlohmann::json& root, const std::string& array,
                                         std::size_t number, const nlohmann::json& element)>;

// The document without the elements that were dealt with. Throws JsonSyntaxError; `root` is then what was
// complete before the place of the error.
void parse_json(std::string_view text, const OnJsonElement& on_element, nlohmann::json& root);

}  // namespace heddle
