#include "symbols/symbol_table.h"

#include <algorithm>
#include <tuple>

namespace heddle {

namespace {

// How much of the section that the symbol is in lies behind its beginning.
uint64_t room_behind(const ElfFile& file, const GElf_Sym& symbol) {
  GElf_Shdr section;
  if (gelf_getshdr(elf_getscn(file.elf(), symbol.st_shndx), &section) == nullptr) return 0;
  const uint64_t before = symbol.st_value - section.sh_addr;
  return before < section.sh_size ? section.sh_size - before : 0;
}

}  // namespace

SymbolTable::SymbolTable(const std::vector<const ElfFile*>& files) {
  for (const uint32_t type : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
    for (const ElfFile* file : files) {
      for (Elf_Scn* section : file->sections(type)) read(*file, section);
      if (!functions_.empty() || !variables_.empty()) break;
    }
    if (!functions_.empty() || !variables_.empty()) break;
  }
  for (std::vector<Symbol>* symbols : {&functions_, &variables_}) {
    std::sort(symbols->begin(), symbols->end(), [](const Symbol& a, const Symbol& b) {
      return std::tie(a.begin, a.rank, a.name) < std::tie(b.begin, b.rank, b.name);
    });
    const auto same_place = [](const Symbol& a, const Symbol& b) { return a.begin == b.begin; };
    symbols->erase(std::unique(symbols->begin(), symbols->end(), same_place), symbols->end());
    symbols->shrink_to_fit();
  }
}

void SymbolTable::read(const ElfFile& file, Elf_Scn* section) {
  GElf_Shdr header;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || gelf_getshdr(section, &header) == nullptr) return;
  GElf_Sym symbol;
  for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (symbol.st_shndx == SHN_UNDEF || (!function && type != STT_OBJECT)) continue;
    const char* name = elf_strptr(file.elf(), header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    const bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
    (function ? functions_ : variables_)
        .push_back({.begin = symbol.st_value,
                    .size = symbol.st_size != 0 ? symbol.st_size : room_behind(file, symbol),
                    .name = name,
                    .rank = static_cast<uint8_t>((symbol.st_size == 0 ? 2 : 0) + (local ? 1 : 0))});
  }
}

const SymbolTable::Symbol* SymbolTable::find(const std::vector<Symbol>& symbols, uint64_t address) {
  auto next = std::upper_bound(symbols.begin(), symbols.end(), address,
                               [](uint64_t at, const Symbol& symbol) { return at < symbol.begin; });
  if (next == symbols.begin()) return nullptr;
  const Symbol& symbol = *std::prev(next);
  return address - symbol.begin < symbol.size ? &symbol : nullptr;
}

}  // namespace heddle
