// The symbols of an ELF file: which function or variable an address belongs to, when there is no debug
// information.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/elf_file.h"

namespace heddle {

class SymbolTable {
 public:
  struct Symbol {
    uint64_t begin;
    uint64_t size;  // to the end of the section where none is told, as in hand-written assembly
    std::string name;
    uint8_t rank;  // of symbols at one place the lowest is taken
  };

  // Reads the full table of the first file that has one, else the dynamic symbols.
  explicit SymbolTable(const std::vector<const ElfFile*>& files);

  const std::vector<Symbol>& functions() const { return functions_; }

  // Null when no symbol is there.
  const Symbol* function_at(uint64_t address) const { return find(functions_, address); }
  const Symbol* variable_at(uint64_t address) const { return find(variables_, address); }

 private:
  void read(const ElfFile& file, Elf_Scn* section);
  static const Symbol* find(const std::vector<Symbol>& symbols, uint64_t address);

  std::vector<Symbol> functions_;  // by address
  std::vector<Symbol> variables_;  // by address
};

}  // namespace heddle
