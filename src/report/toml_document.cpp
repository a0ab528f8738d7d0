#include "report/toml_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace heddle {

namespace {

constexpr std::size_t kMostLevels = 100;  // of tables and arrays inside each other; real files have three

// Measures how deep the values of a document lie, without recursion. It knows just enough of TOML: where
// strings and comments end, and what opens and closes a level. On text that is no TOML it may err, but only
// past the place where the parser stops too.
class NestingScan {
 public:
  explicit NestingScan(std::string_view text) : text_(text) {}

  // The line, from 1, where the document first lies too deep.
  std::optional<std::size_t> line_too_deep() {
    while (at_ < text_.size()) {
      step();
      if (header_parts_ + parts_ + open_.size() > kMostLevels) return line_;
    }
    return std::nullopt;
  }

 private:
  void step() {
    const char c = text_[at_];
    switch (c) {
      case '"':
      case '\'': return skip_string(c);
      case '#': at_ = std::min(text_.find('\n', at_), text_.size()); return;
      case '\n':
        ++line_;
        if (open_.empty()) end_line();
        break;
      case '[':
      case '{':
        if (at_line_start_ && c == '[') {
          in_header_ = true;
          header_parts_ = 0;
        }
        open_.push_back(parts_);
        break;
      case ']':
      case '}': close(); break;
      case ',':  // the next element begins where the first did
        if (!open_.empty()) parts_ = open_.back();
        break;
      case '.': ++parts_; break;
      default: break;
    }
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') at_line_start_ = false;
    ++at_;
  }

  void close() {
    if (open_.empty()) return;
    const std::size_t inside = parts_;
    parts_ = open_.back();
    open_.pop_back();
    if (!in_header_) return;
    // The parts of [a.b.c] lie around all that follows, up to the next header. [[a.b]] closes twice.
    header_parts_ = std::max(header_parts_, inside);
  }

  void end_line() {
    parts_ = 0;
    in_header_ = false;
    at_line_start_ = true;
  }

  // Goes behind the string that begins here. One of a single line ends with it at the latest.
  void skip_string(char quote) {
    at_line_start_ = false;
    const std::string three(3, quote);
    const bool several_lines = text_.substr(at_, 3) == three;
    at_ += several_lines ? 3 : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\' && quote == '"') {
        at_ += 1;  // and the character it stands in front of
      } else if (several_lines && text_.substr(at_, 3) == three) {
        at_ += 3;
        // Up to two quotes before the closing three belong to the text.
        for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
        return;
      } else if (!several_lines && text_[at_] == quote) {
        ++at_;
        return;
      } else if (!several_lines && text_[at_] == '\n') {
        return;
      }
      if (at_ < text_.size() && text_[at_] == '\n') ++line_;
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<std::size_t> open_;  // for each open bracket: parts_ where it was opened
  std::size_t parts_ = 0;          // dots of the keys around this place, without the header
  std::size_t header_parts_ = 0;   // dots of the header above
  bool at_line_start_ = true;      // of a statement: only white space so far
  bool in_header_ = false;
};

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  if (const std::optional<std::size_t> line = NestingScan(text).line_too_deep())
    throw InputError(fmt::format("{}:{}: tables or arrays lie more than {} levels deep inside each other",
                                 name, *line, kMostLevels));
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw InputError(fmt::format("{}:{}:{}: {}", name, at.line, at.column, printable(error.description())));
  }
}

}  // namespace heddle
