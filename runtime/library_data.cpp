#include "runtime/library_data.h"

#include <link.h>

#include "runtime/system_code.h"

namespace heddle::runtime {

namespace {

struct Search {
  const char* function;
  DataSegments found;
};

bool holds(const char* begin, uint64_t size, const void* address) {
  return address >= begin && address < begin + size;
}

int add_module(dl_phdr_info* info, std::size_t, void* given) {
  Search& search = *static_cast<Search*>(given);
  const char* const base = reinterpret_cast<const char*>(info->dlpi_addr);
  const bool is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == 0;
  bool is_wanted = !is_program;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const char* const code = base + part.p_vaddr;
    if (is_program) {
      is_wanted |= holds(code, part.p_memsz, search.function);
    } else {
      is_wanted &=
          !is_system_code(code) && !holds(code, part.p_memsz, reinterpret_cast<const void*>(&data_used_by));
    }
  }
  const auto add = [&](const char* begin, uint64_t size) {
    if (search.found.count < DataSegments::kMost) search.found.of[search.found.count++] = {begin, size};
  };
  for (unsigned i = 0; is_wanted && i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) add(base + part.p_vaddr, part.p_memsz);
    if (part.p_type == PT_TLS && info->dlpi_tls_data != nullptr)
      add(static_cast<const char*>(info->dlpi_tls_data), part.p_memsz);
  }
  return 0;
}

}  // namespace

DataSegments data_used_by(const void* function) {
  Search search = {static_cast<const char*>(function), {}};
  if (function != nullptr && !is_system_code(function)) ::dl_iterate_phdr(add_module, &search);
  return search.found;
}

}  // namespace heddle::runtime
