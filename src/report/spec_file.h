// The spec file: which functions should be atomic or deterministic, by patterns (docs/spec.md). The compiler
// plug-in has a reader of its own (pass/block_spec.h); both follow the same description.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct SpecPattern {
  std::string text;
  std::string where;    // "spec.toml:3"; empty: not from a file
  std::string comment;  // why it is there, one line; empty: none
};

// Whether the pattern describes the block. The standard library's fit only patterns that name it.
bool spec_matches(std::string_view pattern, std::string_view block);

struct SpecFile {
  std::vector<SpecPattern> atomic;
  std::vector<SpecPattern> deterministic;
  std::vector<SpecPattern> ignore;

  // `name` stands for the file in messages. Throws InputError with line and column.
  static SpecFile parse(std::string_view text, const std::string& name);

  // As parse() and the compiler read it.
  std::string text() const;
};

}  // namespace heddle
