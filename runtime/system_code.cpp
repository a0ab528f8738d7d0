#include "runtime/system_code.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <cstdint>

#include "runtime/inside.h"

namespace heddle::runtime {

namespace {

struct Code {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool has(uint64_t pc) const { return pc >= begin && pc < end; }
};
Code system_code[3];
constexpr unsigned kCxxLibrary = 1;  // in it
Code own_code;

int find_code(dl_phdr_info* info, std::size_t, void* given) {
  Code& code = *static_cast<Code*>(given);
  const uint64_t wanted = code.begin;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uint64_t begin = info->dlpi_addr + part.p_vaddr;
    if (wanted < begin || wanted >= begin + part.p_memsz) continue;
    // A library that is linked into the program is the program's own.
    const bool is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == 0;
    code = is_program ? Code() : Code{begin, begin + part.p_memsz};
    return 1;
  }
  return 0;
}

Code code_with(const void* function) {
  Code found = {reinterpret_cast<uint64_t>(function), 0};
  if (function == nullptr || ::dl_iterate_phdr(find_code, &found) == 0) return {};
  return found;
}

// Functions that nobody replaces.
[[gnu::constructor(103)]] void find_system_code() {
  constexpr const char* kFunctions[] = {"gnu_get_libc_version", "__cxa_throw", "__tls_get_addr"};
  for (unsigned i = 0; i < 3; ++i) system_code[i] = code_with(::dlsym(RTLD_DEFAULT, kFunctions[i]));
  own_code = code_with(reinterpret_cast<const void*>(&is_system_code));
}

}  // namespace

bool is_system_code(const void* pc) {
  for (const Code& code : system_code)
    if (code.has(reinterpret_cast<uint64_t>(pc))) return true;
  return false;
}

bool is_code_of_cxx_library(const void* pc) {
  return system_code[kCxxLibrary].has(reinterpret_cast<uint64_t>(pc));
}

const void* outside_system_code(const void* pc) {
  if (!is_system_code(pc)) return pc;
  const Inside inside;
  const void* found = pc;
  ::_Unwind_Backtrace(
      [](_Unwind_Context* context, void* given) {
        const auto here = static_cast<uint64_t>(::_Unwind_GetIP(context));
        const void* const address = reinterpret_cast<const void*>(here);
        if (own_code.has(here) || is_system_code(address)) return _URC_NO_REASON;
        *static_cast<const void**>(given) = address;
        return _URC_END_OF_STACK;
      },
      static_cast<void*>(&found));
  return found;
}

}  // namespace heddle::runtime
