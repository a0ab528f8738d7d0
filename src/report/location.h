// Where a frame is in the source. Frames come as text, "FILE:LINE[:COLUMN][ in FUNCTION]", or without debug
// information "in FUNCTION (LIBRARY)"; other tools' traces hold anything (RAPID writes bare numbers), and
// that is kept as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

struct Location {
  std::string place;     // the frame without its function: "bank.cpp:31:7", "libbank.so", or all of a text of
                         // another form
  std::string file;      // of the source, "bank.cpp"; empty: not told
  uint32_t line = 0;     // from 1; 0: not known
  uint32_t column = 0;   // from 1; 0: not known
  std::string function;  // empty: not told
};

Location parse_location(std::string_view frame);

// The place in words; a bare number means nothing on its own, and is called a site.
std::string place_text(const Location& location);

}  // namespace heddle
