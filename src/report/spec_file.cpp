#include "report/spec_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "report/glob.h"
#include "report/toml_document.h"

namespace heddle {

namespace {

bool is_of_library(std::string_view name) {
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

std::vector<SpecPattern>* list_for(SpecFile& spec, std::string_view key) {
  if (key == "atomic") return &spec.atomic;
  if (key == "deterministic") return &spec.deterministic;
  return key == "ignore" ? &spec.ignore : nullptr;
}

// As a string of TOML.
std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string list_text(std::string_view key, const std::vector<SpecPattern>& patterns) {
  if (patterns.empty()) return fmt::format("{} = []\n", key);
  std::string text = fmt::format("{} = [\n", key);
  for (const SpecPattern& pattern : patterns)
    text += fmt::format("  {},{}{}\n", toml_string(pattern.text), pattern.comment.empty() ? "" : "  # ",
                        printable(pattern.comment));
  return text + "]\n";
}

}  // namespace

bool spec_matches(std::string_view pattern, std::string_view block) {
  return glob_matches(pattern, block) && (!is_of_library(block) || is_of_library(pattern));
}

SpecFile SpecFile::parse(std::string_view text, const std::string& name) {
  const toml::table document = parse_toml(text, name);
  const auto fail = [&](const toml::source_region& where, const std::string& what) {
    throw InputError(fmt::format("{}:{}:{}: {}", name, where.begin.line, where.begin.column, what));
  };
  SpecFile spec;
  for (const auto& [key, value] : document) {
    std::vector<SpecPattern>* const patterns = list_for(spec, key.str());
    if (patterns == nullptr)
      fail(key.source(),
           fmt::format("unknown key '{}'; a spec file has 'atomic', 'deterministic' and 'ignore'",
                       printable(key.str())));
    const toml::array* const list = value.as_array();
    if (list == nullptr) fail(value.source(), fmt::format("'{}' is not an array of patterns", key.str()));
    for (const toml::node& element : *list) {
      const toml::value<std::string>* const pattern = element.as_string();
      if (pattern == nullptr)
        fail(element.source(), fmt::format("a pattern in '{}' is not a string", key.str()));
      if (pattern->get().empty())
        fail(element.source(), fmt::format("a pattern in '{}' is empty", key.str()));
      patterns->push_back({pattern->get(), fmt::format("{}:{}", name, element.source().begin.line), ""});
    }
  }
  return spec;
}

std::string SpecFile::text() const {
  return list_text("atomic", atomic) + list_text("deterministic", deterministic) +
         list_text("ignore", ignore);
}

}  // namespace heddle
