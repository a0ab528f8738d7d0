// The focus file (docs/design/types.md): what a focused build need not check. src/types/focus.h writes it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

namespace heddle {

struct FocusFile {
  enum class Mode { kField, kMethod, kCombined };
  std::string hash;  // of its text
  Mode mode = Mode::kCombined;
  std::map<std::string, std::string> sources;   // hashes, by path
  std::set<std::string> taken;                  // places whose address somebody has
  std::set<std::string> fields;                 // places without races
  std::set<std::string> methods;                // symbols of typed methods
  std::set<std::string> quiet;                  // places whose relaxed loads mean nothing to races
  std::set<std::array<std::string, 3>> exempt;  // accesses: function, place in the source, path
  std::map<std::string, std::string> guarded;   // locks that stand for places, by place
  struct Required {
    unsigned parameter;  // whose object has the lock; of a global one it does not matter
    std::string lock;    // place
    bool is_shared;      // is enough
  };
  std::map<std::string, std::vector<Required>> required;  // by symbol

  // The error names file, line and what is wrong.
  static llvm::Expected<FocusFile> read(const std::string& file);
  // What of the module is not what the file was made for; success: it is the same program.
  llvm::Error check_sources(const llvm::Module& module, const std::string& file) const;

  // Whether an access to the place in a function need not be checked.
  bool leaves_out(const std::string& place, bool is_typed) const;
};

}  // namespace heddle
