// What a piece of memory is called in the source: "Account::balance_", "counter", "data[]". Debug information
// tells: the type of a variable, the members of a class, what a pointer points to.
//
// Works on code as clang makes it, before optimization: every variable still has its own place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/Value.h>

namespace heddle {

class Places {
 public:
  explicit Places(const llvm::Module& module) : layout_(module.getDataLayout()) {}

  // The name of the member or variable at `address`, or of the object of at most `size` bytes; empty if
  // nothing tells it. Members of the standard library's classes are its own affair: the name is that of the
  // whole object.
  std::string name_at(llvm::Value* address, uint64_t size = 0) const;

 private:
  // How the memory was reached, as long as no member has been named.
  enum class Root { kVariable, kPointer, kReference };

  struct Place {
    std::string text;  // the variable's name, or the pointer's or reference's that leads there
    Root root;
    const llvm::DIType* type;  // of what lies there; null: unknown
    uint64_t offset = 0;       // from there, in bytes
    bool is_indexed = false;   // the pointer is used as an array
    unsigned dimension = 0;    // how many indices of an array of arrays have been named
  };

  std::optional<Place> place_of(llvm::Value* address, unsigned depth) const;
  std::optional<Place> place_of_element(const llvm::GEPOperator& element, unsigned depth) const;
  std::optional<Place> place_of_result(const llvm::CallBase& call) const;
  static std::optional<Place> place_behind(const Place& pointer);
  static std::optional<Place> array_at(Place place);
  static std::optional<Place> part_at(Place place, uint64_t size);
  static void enter_object(Place& place);
  static bool enter_member(Place& place);
  static void enter_element(Place& place);
  static std::string name_of(const Place& place);

  const llvm::DataLayout& layout_;
};

// The qualified name of a global or static variable; of a local one "function::name".
std::string name_of(const llvm::GlobalVariable& variable);

}  // namespace heddle
