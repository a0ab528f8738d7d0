#include "cli/program_to_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "symbols/executable.h"

namespace heddle {

namespace {

constexpr const char* kRuntime = "libheddle_runtime.so";

// As execvp() finds it; empty when it does not.
std::string find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* const path = std::getenv("PATH");
  for (const std::string_view place : split(path == nullptr ? "/bin:/usr/bin" : path, ":")) {
    const std::string file = fmt::format("{}/{}", place.empty() ? "." : place, command);
    if (::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) return file;
  }
  return "";
}

// Beside the tool, as the compiler wrappers find it.
std::string find_runtime() {
  std::error_code none;
  const std::filesystem::path tool = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::filesystem::path library = tool.parent_path().parent_path() / "lib" / kRuntime;
  return std::filesystem::exists(library, none) ? library.string() : "";
}

}  // namespace

ProgramToRun::ProgramToRun(const std::string& command) : file_(find_program(command)) {
  if (::access(file_.c_str(), X_OK) != 0) return;  // starting it says what is wrong
  switch (program_kind(file_)) {
    case ProgramKind::kNone:
      warning_ = fmt::format(
          "{} is a script: of the programs it starts, those built with heddle-clang++ are checked", command);
      return;
    case ProgramKind::kStatic:
      warning_ = fmt::format(
          "{} is linked statically, so nothing of it can be checked; build it with heddle-clang++ and "
          "without -static",
          command);
      return;
    case ProgramKind::kDynamic: break;
  }
  if (needs_library(file_, kRuntime)) {
    if (!has_debug_info(file_))
      warning_ = fmt::format(
          "{} was built without -g: reports cannot say where in the source{}; build it with -g, at any "
          "optimization",
          command,
          noted_blocks(file_).empty()
              ? ", and which classes own a mutex is not known, so that no function is "
                "expected to be atomic"
              : "");
    return;
  }
  warning_ = fmt::format(
      "{} was not built with Heddle: its locks and threads are checked, its memory accesses and blocks are "
      "not; build it with heddle-clang++ (CXX=heddle-clang++)",
      command);
  preload_ = find_runtime();
  const char* const before = std::getenv("LD_PRELOAD");
  if (!preload_.empty() && before != nullptr && *before != 0) preload_ += fmt::format(":{}", before);
}

void ProgramToRun::refuse_as_output(const std::string& path) const {
  std::error_code none;
  if (!path.empty() && std::filesystem::equivalent(path, file_, none))
    throw InputError(
        fmt::format("'{}' is the program itself; give the output another name", printable(path)));
}

}  // namespace heddle
