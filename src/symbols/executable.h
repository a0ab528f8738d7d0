// What an executable says about itself before it runs. A file that cannot be read says nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// Whether the file, or the separate debug file that belongs to it, tells source lines.
bool has_debug_info(const std::string& path);

// What the loader can do with a file.
enum class ProgramKind : uint8_t {
  kNone,     // no ELF file: a script, or nothing that can be read
  kStatic,   // loads no libraries
  kDynamic,  // loads libraries, also such as the environment names
};
ProgramKind program_kind(const std::string& path);

// Whether the file asks for the shared library of this name ("libheddle_runtime.so") when it is loaded.
bool needs_library(const std::string& path, std::string_view library);

// A function of the file.
struct FunctionPlace {
  uint64_t begin;  // link address
  uint64_t end;
  std::string name;  // "Account::withdraw"
};
// Whether other compilers than ours have instrumented parts of the program: -fsanitize=thread.
bool has_parts_for_thread_sanitizer(const std::string& path);
// All functions, if code of the file says itself where functions begin and end, as -fsanitize=thread has it;
// else none.
std::vector<FunctionPlace> functions_for_thread_sanitizer(const std::string& path);

// A block that the compiler plug-in has noted in the file: HeddleBlock of runtime/blocks.h.
struct NotedBlock {
  std::string name;  // "Account::withdraw"
  uint32_t kind = 0;
  uint32_t origin = 0;
  friend bool operator==(const NotedBlock&, const NotedBlock&) = default;
};
// In the order of the file; those whose name cannot be read are left out.
std::vector<NotedBlock> noted_blocks(const std::string& path);

// Patterns of the spec file that parts of the program were compiled with and that no function in the file
// fits.
std::vector<std::string> patterns_without_function(const std::string& path);

// The bytes of the section of this name; empty: there is none.
std::string section_bytes(const std::string& path, std::string_view name);

}  // namespace heddle
