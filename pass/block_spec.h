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

 private:
  using Patterns = llvm::SmallVector<std::string>;
  static bool matches(const Patterns& patterns, llvm::StringRef name);

  Patterns atomic_;
  Patterns deterministic_;
  Patterns ignore_;
};

// Whether the whole name fits the pattern.
bool fits(llvm::StringRef pattern, llvm::StringRef name);

}  // namespace heddle
