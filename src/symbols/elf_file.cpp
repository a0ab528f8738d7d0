#include "symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

namespace heddle {

std::unique_ptr<ElfFile> ElfFile::open(const std::string& path) {
  if (elf_version(EV_CURRENT) == EV_NONE) return nullptr;
  // Not blocking: the path may name a pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return nullptr;
  struct stat status{};
  Elf* elf = nullptr;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    elf = elf_begin(descriptor, ELF_C_READ, nullptr);
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF) {
    elf_end(elf);
    close(descriptor);
    return nullptr;
  }
  return std::unique_ptr<ElfFile>(new ElfFile(path, descriptor, elf));
}

ElfFile::ElfFile(std::string path, int descriptor, Elf* elf)
    : path_(std::move(path)), descriptor_(descriptor), elf_(elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return;
  for (int i = 0; std::cmp_less(i, count); ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_, i, &header) == nullptr) return;
    if (header.p_type == PT_LOAD) loaded_.push_back(header);
  }
}

ElfFile::~ElfFile() {
  elf_end(elf_);
  close(descriptor_);
}

Elf_Scn* ElfFile::section(std::string_view name) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return nullptr;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* its_name = elf_strptr(elf_, names, header.sh_name);
    if (its_name != nullptr && its_name == name) return section;
  }
  return nullptr;
}

std::vector<Elf_Scn*> ElfFile::sections(uint32_t type) const {
  std::vector<Elf_Scn*> found;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) found.push_back(section);
  }
  return found;
}

std::string ElfFile::build_id() const {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf_, &bytes);
  std::string text;
  if (size <= 0) return text;
  for (const uint8_t byte : std::span(static_cast<const uint8_t*>(bytes), static_cast<std::size_t>(size)))
    text += fmt::format("{:02x}", byte);
  return text;
}

bool ElfFile::is_code(uint64_t address) const {
  return std::any_of(loaded_.begin(), loaded_.end(), [&](const GElf_Phdr& segment) {
    return (segment.p_flags & PF_X) != 0 && address >= segment.p_vaddr &&
           address - segment.p_vaddr < segment.p_memsz;
  });
}

std::string ElfFile::text_at(uint64_t address) const {
  constexpr std::size_t kMost = 1 << 16;  // of a text worth showing
  for (const GElf_Phdr& segment : loaded_) {
    if ((segment.p_flags & PF_W) != 0 || address < segment.p_vaddr ||
        address - segment.p_vaddr >= segment.p_filesz)
      continue;
    uint64_t left = segment.p_filesz - (address - segment.p_vaddr);
    uint64_t offset = segment.p_offset + (address - segment.p_vaddr);
    std::string text;
    std::array<char, 256> block;
    while (left > 0 && text.size() < kMost) {
      const ssize_t got = pread(descriptor_, block.data(), std::min<uint64_t>(left, block.size()),
                                static_cast<off_t>(offset));
      if (got <= 0) return {};
      const std::size_t size = static_cast<std::size_t>(got);
      const std::size_t end = strnlen(block.data(), size);
      text.append(block.data(), end);
      if (end < size) return text;
      left -= size;
      offset += size;
    }
    return {};
  }
  return {};
}

bool holds_debug_info(const ElfFile& file) {
  Elf_Scn* section = file.section(".debug_info");
  if (section == nullptr) section = file.section(".zdebug_info");
  GElf_Shdr header;
  return section != nullptr && gelf_getshdr(section, &header) != nullptr && header.sh_type != SHT_NOBITS;
}

std::unique_ptr<ElfFile> open_debug_file(const ElfFile& file) {
  const std::string id = file.build_id();
  if (id.size() < 4) return nullptr;
  std::vector<std::string> candidates = {
      fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", id.substr(0, 2), id.substr(2))};
  GElf_Word checksum = 0;
  if (const char* link = dwelf_elf_gnu_debuglink(file.elf(), &checksum)) {
    std::error_code error;
    const std::string folder =
        std::filesystem::weakly_canonical(std::filesystem::path(file.path()), error).parent_path().string();
    candidates.push_back(fmt::format("{}/{}", folder, link));
    candidates.push_back(fmt::format("{}/.debug/{}", folder, link));
    candidates.push_back(fmt::format("/usr/lib/debug{}/{}", folder, link));
  }
  for (const std::string& candidate : candidates) {
    std::unique_ptr<ElfFile> debug = ElfFile::open(candidate);
    if (debug && debug->build_id() == id && holds_debug_info(*debug)) return debug;
  }
  return nullptr;
}

}  // namespace heddle
