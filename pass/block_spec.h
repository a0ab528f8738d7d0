// The spec file (docs/spec.md): which functions are blocks, by patterns on their qualified names.
// src/report/spec_file.h reads it for the tool.
//
//   atomic = ["Account::*", "push"]
//   deterministic = ["solve"]
//   ignore = ["Account::dump"]      # never a block, unless the function itself says so
//
// `*` stands for any characters, `?` for one. Functions of the standard library fit only patterns that begin
// with "std::".
#pragma once

#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace heddle {

class BlockSpec {
 public:
  // The error names file, line and what is wrong.
  static llvm::Expected<BlockSpec> read(const std::string& file);

  bool is_atomic(llvm::StringRef name) const { return matches(atomic_, name); }
  bool is_deterministic(llvm::StringRef name) const { return matches(deterministic_, name); }
  bool is_ignored(llvm::StringRef name) const { return matches(ignore_, name); }

  // There is a function of this name.
  void meet(llvm::StringRef name);
  // Each pattern, and whether it fits any of them.
  template <class Visit>
  void for_each_pattern(Visit visit) const {
    for (const Patterns* patterns : {&atomic_, &deterministic_, &ignore_})
      for (const Pattern& pattern : *patterns) visit(pattern.text, pattern.has_met);
  }

 private:
  struct Pattern {
    std::string text;
    bool has_met = false;  // a function that fits
  };
  using Patterns = llvm::SmallVector<Pattern>;
  static bool matches(const Pattern& pattern, llvm::StringRef name);
  static bool matches(const Patterns& patterns, llvm::StringRef name);

  Patterns atomic_;
  Patterns deterministic_;
  Patterns ignore_;
};

// Whether the whole name fits the pattern.
bool fits(llvm::StringRef pattern, llvm::StringRef name);

}  // namespace heddle
