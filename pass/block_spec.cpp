#include "pass/block_spec.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Twine.h>
#include <llvm/Support/MemoryBuffer.h>

#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

namespace {

Error wrong(const std::string& file, const toml::source_region& where, const Twine& what) {
  return createStringError(file + ":" + Twine(where.begin.line) + ":" + Twine(where.begin.column) + ": " +
                           what);
}

}  // namespace

Expected<BlockSpec> BlockSpec::read(const std::string& file) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!text)
    return createStringError("cannot read the spec file '" + file + "': " + text.getError().message());
  const toml::parse_result document = toml::parse(std::string_view((*text)->getBuffer()), file);
  if (!document) {
    const std::string_view what = document.error().description();
    return wrong(file, document.error().source(), StringRef(what.data(), what.size()));
  }
  BlockSpec spec;
  for (auto&& [key, value] : document.table()) {
    Patterns* const patterns = key.str() == "atomic"          ? &spec.atomic_
                               : key.str() == "deterministic" ? &spec.deterministic_
                               : key.str() == "ignore"        ? &spec.ignore_
                                                              : nullptr;
    const StringRef name(key.data(), key.length());
    if (patterns == nullptr)
      return wrong(file, key.source(),
                   "unknown key '" + name + "'; a spec file has 'atomic', 'deterministic' and 'ignore'");
    const toml::array* const list = value.as_array();
    if (list == nullptr) return wrong(file, value.source(), "'" + name + "' is not an array of patterns");
    for (const toml::node& element : *list) {
      const toml::value<std::string>* const pattern = element.as_string();
      if (pattern == nullptr)
        return wrong(file, element.source(), "a pattern in '" + name + "' is not a string");
      if (pattern->get().empty())
        return wrong(file, element.source(), "a pattern in '" + name + "' is empty");
      patterns->push_back({pattern->get()});
    }
  }
  return spec;
}

bool fits(StringRef pattern, StringRef name) {
  // On a mismatch the latest star takes one character more.
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = StringRef::npos;
  std::size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != StringRef::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool BlockSpec::matches(const Pattern& pattern, StringRef name) {
  return fits(pattern.text, name) && (!is_of_library(name) || is_of_library(pattern.text));
}

bool BlockSpec::matches(const Patterns& patterns, StringRef name) {
  return any_of(patterns, [&](const Pattern& pattern) { return matches(pattern, name); });
}

void BlockSpec::meet(StringRef name) {
  for (Patterns* patterns : {&atomic_, &deterministic_, &ignore_})
    for (Pattern& pattern : *patterns) pattern.has_met |= matches(pattern, name);
}

}  // namespace heddle
