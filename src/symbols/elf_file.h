// An ELF file opened for reading. The file is read in pieces and never mapped: one that shrinks meanwhile
// gives less, not a signal.
#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

class ElfFile {
 public:
  // Null when there is no such file or it is no ELF file.
  static std::unique_ptr<ElfFile> open(const std::string& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  Elf* elf() const { return elf_; }
  const std::string& path() const { return path_; }

  // The section of this name; null when there is none.
  Elf_Scn* section(std::string_view name) const;
  // All sections of this type (SHT_…).
  std::vector<Elf_Scn*> sections(uint32_t type) const;

  // Names which build of a program the file is; empty when it does not say.
  std::string build_id() const;

  // Whether code lies at this link address.
  bool is_code(uint64_t address) const;
  // The NUL-terminated text at a link address that the program cannot write to; empty when there is none.
  std::string text_at(uint64_t address) const;

 private:
  ElfFile(std::string path, int descriptor, Elf* elf);

  std::string path_;
  int descriptor_;
  Elf* elf_;
  std::vector<GElf_Phdr> loaded_;  // what the file puts into memory (PT_LOAD)
};

// The file that holds the debug information of `file`, found by build id in the places where debuggers look;
// null when there is none or it belongs to another build.
std::unique_ptr<ElfFile> open_debug_file(const ElfFile& file);

// Whether the file itself holds debug information.
bool holds_debug_info(const ElfFile& file);

}  // namespace heddle
