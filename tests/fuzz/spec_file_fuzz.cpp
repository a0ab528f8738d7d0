// The reader of spec files on any bytes. What it has read fits names or does not, and written out it is read
// again as the same.
#include "report/spec_file.h"

#include <cstdlib>

#include "base/error.h"
#include "target.h"

namespace {

bool are_same(const std::vector<heddle::SpecPattern>& a, const std::vector<heddle::SpecPattern>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].text != b[i].text) return false;
  return true;
}

// What we write is no bad input: an exception that leaves this is a bug.
void read_again(const heddle::SpecFile& spec) {
  const heddle::SpecFile again = heddle::SpecFile::parse(spec.text(), "written");
  if (!are_same(spec.atomic, again.atomic) || !are_same(spec.deterministic, again.deterministic) ||
      !are_same(spec.ignore, again.ignore))
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  heddle::SpecFile spec;
  try {
    spec = heddle::SpecFile::parse(std::string_view(reinterpret_cast<const char*>(data), size), "input");
  } catch (const heddle::InputError&) {
    return 0;  // the right answer to a bad input
  }
  for (const auto* patterns : {&spec.atomic, &spec.deterministic, &spec.ignore})
    for (const heddle::SpecPattern& pattern : *patterns)
      for (const char* block : {"Account::withdraw", "std::vector::push_back", "a", ""})
        heddle::spec_matches(pattern.text, block);
  read_again(spec);
  return 0;
}

namespace heddle::fuzz {

std::vector<std::string> seeds() {
  SpecFile written;
  written.atomic = {{"Account::*", "", "refuted by a run"}, {"pu?h", "", ""}};
  written.ignore = {{"odd \"name\" \\ \x01", "", "two\nlines"}};
  return {
      "atomic = [\"Account::*\", \"transfer\"]\ndeterministic = [\"solve\"]\nignore = [\"Account::dump\"]\n",
      "atomic = []\n",
      "ignore = ['''a*b?''', \"std::*\", \"\\u00e9\"] # why\n",
      written.text(),
  };
}

std::vector<std::string> tokens() {
  return {"atomic",      "deterministic",
          "ignore",      "[",
          "]",           "{",
          "}",           "[[",
          "]]",          "\"",
          "'",           "'''",
          "\"\"\"",      "=",
          "*",           "?",
          "::",          "\\u",
          "\\u00e9",     "\\u0000",
          "\\",          "\n",
          "\r",          "#",
          ",",           ".",
          "std::",       "true",
          "1e400",       "2027-01-31",
          "\x7f",        "\xff",
          "\xC3\xA9",    "\xC2\x85",
          "\xE2\x80\xA8"};
}

void repair(std::string&, uint64_t) {}

}  // namespace heddle::fuzz
