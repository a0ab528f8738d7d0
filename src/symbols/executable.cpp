#include "symbols/executable.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <unordered_map>

#include "symbols/elf_file.h"
#include "symbols/readable_name.h"
#include "symbols/symbol_table.h"

namespace heddle {

namespace {

// The pointers in [begin, end) that the loader computes from an address that is not at the pointer itself but
// in the table of relocations. Those of the packed table (RELR) have it at the pointer, as fixed ones do.
std::unordered_map<uint64_t, uint64_t> relocated_pointers(const ElfFile& file, uint64_t begin, uint64_t end) {
  std::unordered_map<uint64_t, uint64_t> pointers;
  GElf_Ehdr header;
  if (gelf_getehdr(file.elf(), &header) == nullptr) return pointers;
  const uint64_t relative = header.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
  for (Elf_Scn* section : file.sections(SHT_RELA)) {
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Rela relocation;
    for (int i = 0; data != nullptr && gelf_getrela(data, i, &relocation) != nullptr; ++i) {
      if (GELF_R_TYPE(relocation.r_info) == relative && relocation.r_offset >= begin &&
          relocation.r_offset < end)
        pointers[relocation.r_offset] = static_cast<uint64_t>(relocation.r_addend);
    }
  }
  return pointers;
}

// Whether the file uses a function that a library has.
bool imports(const ElfFile& file, std::string_view function) {
  for (Elf_Scn* section : file.sections(SHT_DYNSYM)) {
    GElf_Shdr header;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || gelf_getshdr(section, &header) == nullptr) continue;
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* name = elf_strptr(file.elf(), header.sh_link, symbol.st_name);
      if (symbol.st_shndx == SHN_UNDEF && name != nullptr && name == function) return true;
    }
  }
  return false;
}

}  // namespace

bool has_debug_info(const std::string& path) {
  const std::unique_ptr<ElfFile> file = ElfFile::open(path);
  return file && (holds_debug_info(*file) || open_debug_file(*file));
}

ProgramKind program_kind(const std::string& path) {
  const std::unique_ptr<ElfFile> file = ElfFile::open(path);
  if (!file) return ProgramKind::kNone;
  std::size_t headers = 0;
  GElf_Phdr header;
  if (elf_getphdrnum(file->elf(), &headers) != 0) return ProgramKind::kNone;
  for (std::size_t i = 0; i < headers; ++i)
    if (gelf_getphdr(file->elf(), static_cast<int>(i), &header) != nullptr && header.p_type == PT_INTERP)
      return ProgramKind::kDynamic;
  return ProgramKind::kStatic;
}

bool needs_library(const std::string& path, std::string_view library) {
  const std::unique_ptr<ElfFile> file = ElfFile::open(path);
  if (!file) return false;
  for (Elf_Scn* section : file->sections(SHT_DYNAMIC)) {
    GElf_Shdr header;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || gelf_getshdr(section, &header) == nullptr) continue;
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      if (entry.d_tag != DT_NEEDED) continue;
      const char* name = elf_strptr(file->elf(), header.sh_link, entry.d_un.d_val);
      if (name != nullptr && name == library) return true;
    }
  }
  return false;
}

bool has_parts_for_thread_sanitizer(const std::string& path) {
  const std::unique_ptr<ElfFile> file = ElfFile::open(path);
  return file && imports(*file, "__tsan_init");
}

std::vector<FunctionPlace> functions_for_thread_sanitizer(const std::string& path) {
  const std::unique_ptr<ElfFile> file = ElfFile::open(path);
  if (!file || !imports(*file, "__tsan_func_entry")) return {};
  const SymbolTable symbols({file.get()});
  std::vector<FunctionPlace> functions;
  functions.reserve(symbols.functions().size());
  for (const SymbolTable::Symbol& symbol : symbols.functions())
    functions.push_back(
        {symbol.begin, symbol.begin + symbol.size, readable_function(demangled(symbol.name))});
  return functions;
}

std::vector<NotedBlock> noted_blocks(const std::string& path) {
  struct Entry {
    uint64_t name;
    uint32_t kind;
    uint32_t origin;
  };
  const std::unique_ptr<ElfFile> file = ElfFile::open(path);
  Elf_Scn* section = file ? file->section("heddle_blocks") : nullptr;
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return {};
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  const auto pointers = relocated_pointers(*file, header.sh_addr, header.sh_addr + data->d_size);
  std::vector<NotedBlock> blocks;
  for (uint64_t at = 0; at + sizeof(Entry) <= data->d_size; at += sizeof(Entry)) {
    Entry entry;
    std::memcpy(&entry, static_cast<const char*>(data->d_buf) + at, sizeof entry);
    const auto pointer = pointers.find(header.sh_addr + at);
    if (pointer != pointers.end()) entry.name = pointer->second;
    std::string name = file->text_at(entry.name);
    if (!name.empty())
      blocks.push_back({.name = std::move(name), .kind = entry.kind, .origin = entry.origin});
  }
  return blocks;
}

std::string section_bytes(const std::string& path, std::string_view name) {
  const std::unique_ptr<ElfFile> file = ElfFile::open(path);
  Elf_Scn* const section = file ? file->section(name) : nullptr;
  const Elf_Data* const data = section == nullptr ? nullptr : elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return "";
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

std::vector<std::string> patterns_without_function(const std::string& path) {
  // "+pattern" or "-pattern" of each compiled file, each with a zero byte behind it (pass/block_pass.cpp).
  const std::string notes = section_bytes(path, "heddle_spec_patterns");
  std::set<std::string> fitting;
  std::set<std::string> others;
  for (std::size_t at = 0; at < notes.size();) {
    const std::size_t end = std::min(notes.find('\0', at), notes.size());
    if (end > at + 1) (notes[at] == '+' ? fitting : others).insert(notes.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  std::vector<std::string> result;
  std::set_difference(others.begin(), others.end(), fitting.begin(), fitting.end(),
                      std::back_inserter(result));
  return result;
}

}  // namespace heddle
