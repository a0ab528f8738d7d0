// Reading TOML that came from outside: suppressions and config files.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace heddle {

// The document in `text`; `name` stands for the file in messages. Throws InputError with file, line and
// column.
//
// Nesting past a hundred levels is refused before toml++ sees it: its tables destroy each other recursively,
// and a key of fifty thousand parts ("a.a.a…") would exhaust the stack.
toml::table parse_toml(std::string_view text, const std::string& name);

}  // namespace heddle
