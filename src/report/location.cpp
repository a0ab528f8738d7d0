#include "report/location.h"

#include <charconv>
#include <optional>

#include "base/text.h"

namespace heddle {

namespace {

constexpr std::string_view kIn = " in ";

// Takes ":NUMBER" off the end of `text`; leaves it alone when it does not end like that.
std::optional<uint32_t> take_number(std::string_view& text) {
  constexpr std::size_t kMostDigits = 9;  // of a number that fits
  const std::size_t last = text.find_last_not_of("0123456789");
  if (last == std::string_view::npos || text[last] != ':') return std::nullopt;
  const std::string_view digits = text.substr(last + 1);
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  text = text.substr(0, last);
  return number;
}

// The location a text without function stands for, if it is FILE:LINE or FILE:LINE:COLUMN.
std::optional<Location> parse_place(std::string_view place) {
  std::string_view rest = place;
  const std::optional<uint32_t> last = take_number(rest);
  if (!last || rest.empty()) return std::nullopt;
  Location location{
      .place = std::string(place), .file = std::string(rest), .line = *last, .column = 0, .function = {}};
  const std::optional<uint32_t> line = take_number(rest);
  if (line && !rest.empty()) {
    location.file = rest;
    location.line = *line;
    location.column = *last;
  }
  return location;
}

// "in FUNCTION (LIBRARY)". No name of a library holds a '('.
std::optional<Location> parse_library(std::string_view frame) {
  const std::size_t open = frame.rfind(" (");
  if (!frame.starts_with(kIn.substr(1)) || !frame.ends_with(')') || open == std::string_view::npos)
    return std::nullopt;
  const std::size_t begin = kIn.size() - 1;
  const std::string_view library = frame.substr(open + 2, frame.size() - open - 3);
  if (open <= begin || library.empty()) return std::nullopt;
  return Location{.place = std::string(library),
                  .file = {},
                  .line = 0,
                  .column = 0,
                  .function = std::string(frame.substr(begin, open - begin))};
}

}  // namespace

Location parse_location(std::string_view frame) {
  // A file name may hold " in " too, so the first one that leaves a place before it is taken.
  for (std::size_t in = frame.find(kIn); in != std::string_view::npos; in = frame.find(kIn, in + 1)) {
    if (std::optional<Location> location = parse_place(frame.substr(0, in))) {
      location->function = frame.substr(in + kIn.size());
      return *location;
    }
  }
  if (std::optional<Location> location = parse_place(frame)) return *location;
  if (std::optional<Location> location = parse_library(frame)) return *location;
  return {.place = std::string(frame), .file = {}, .line = 0, .column = 0, .function = {}};
}

std::string place_text(const Location& location) {
  const bool number =
      !location.place.empty() && location.place.find_first_not_of("0123456789") == std::string::npos;
  return (number ? "site " : "") + printable(location.place);
}

}  // namespace heddle
