// One file of the checked program, executable or shared object, with everything it knows about its addresses.
// Addresses are link addresses: those that the file itself uses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbols/debug_info.h"
#include "symbols/elf_file.h"
#include "symbols/symbol_table.h"

namespace heddle {

class ObjectFile {
 public:
  // A file that cannot be read knows nothing.
  explicit ObjectFile(const std::string& path);

  std::vector<std::string> frames(uint64_t address);
  std::string data_name(uint64_t address);
  std::string field_name(uint64_t code, uint64_t offset);
  // The class that the function there is a member of; empty name: of none.
  std::string class_name(uint64_t code);
  uint64_t class_size(uint64_t code);
  std::string text_at(uint64_t address) const;

 private:
  std::string name_;  // without its folders
  std::unique_ptr<ElfFile> file_;
  std::unique_ptr<ElfFile> debug_file_;  // the separate one; null: there is none
  std::unique_ptr<DebugInfo> debug_;     // null: there is none
  std::unique_ptr<SymbolTable> symbols_;
};

}  // namespace heddle
