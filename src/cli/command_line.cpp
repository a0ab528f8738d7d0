#include "cli/command_line.h"

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace heddle {

namespace {

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/=:,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string own_command_line() {
  std::string arguments;
  try {
    arguments = read_whole_file("/proc/self/cmdline");
  } catch (const InputError&) {
    return {};
  }
  if (arguments.ends_with('\0')) arguments.pop_back();
  std::string line;
  if (const char* options = std::getenv("HEDDLE_OPTIONS"))
    line = "HEDDLE_OPTIONS=" + shell_word(options) + " ";
  bool is_first = true;
  for (const std::string_view word : split(arguments, std::string_view("\0", 1))) {
    line += is_first ? "heddle" : " " + shell_word(word);
    is_first = false;
  }
  return line;
}

}  // namespace heddle
