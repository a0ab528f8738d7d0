#include "cli/standstill.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "symbols/symbolizer.h"

namespace heddle {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// What /proc says of a thread that is inside the system: "202 0x7f… 0x80 0x2 0x0 … stack pc".
struct SystemCall {
  long number = -1;  // -1: the thread runs
  std::array<uint64_t, 6> arguments{};
  uint64_t stack = 0;

  explicit SystemCall(const fs::path& thread) {
    std::istringstream said(text_of(thread / "syscall"));
    if (!(said >> number)) {
      number = -1;
      return;
    }
    said >> std::hex;
    for (uint64_t& argument : arguments) said >> argument;
    said >> stack;
  }

  bool waits_for_ever() const {
    constexpr int kCommand = FUTEX_CMD_MASK;
    const auto command = static_cast<int>(arguments[1]) & kCommand;
    return number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
           arguments[3] == 0;
  }
};

// The lines of /proc/PID/status that count how often a thread has run.
std::string switches_of(const fs::path& thread) {
  const std::string status = text_of(thread / "status");
  const std::size_t begin = status.find("voluntary_ctxt_switches");
  return begin == std::string::npos ? "?" : thread.filename().string() + status.substr(begin);
}

// The program itself, without its libraries.
Module main_module(const std::string& process) {
  std::error_code none;
  Module module{fs::read_symlink(process + "/exe", none).string()};
  std::istringstream maps(text_of(process + "/maps"));
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(module.path)) continue;
    uint64_t begin = 0;
    uint64_t end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    if (module.begin == 0) module.begin = begin;
    module.end = end;
  }
  // Position-independent programs are linked at 0, others at their place.
  constexpr uint64_t kLowest = uint64_t{1} << 32;
  module.bias = module.begin >= kLowest ? module.begin : 0;
  return module;
}

bool is_own_line(const std::string& frame) {
  return frame.find(':') != std::string::npos && !frame.starts_with("/usr/") &&
         frame.find("heddle/parallel") == std::string::npos;
}

}  // namespace

bool Standstill::has_come(pid_t pid) {
  std::string now;
  std::error_code none;
  for (const fs::directory_entry& thread : fs::directory_iterator(fmt::format("/proc/{}/task", pid), none)) {
    if (!SystemCall(thread.path()).waits_for_ever()) {
      before_.clear();
      return false;
    }
    now += switches_of(thread.path());
  }
  const bool is_same = !now.empty() && now == before_;
  before_ = now;
  return is_same;
}

std::string Standstill::place(pid_t pid) {
  const std::string process = fmt::format("/proc/{}", pid);
  const Module module = main_module(process);
  const int memory = ::open((process + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) return {};
  std::array<uint64_t, 2048> words{};
  const ssize_t read =
      ::pread(memory, words.data(), sizeof(words), static_cast<off_t>(SystemCall(process).stack));
  ::close(memory);
  Symbolizer symbolizer;
  symbolizer.add(module);
  for (std::size_t i = 0; read > 0 && i < static_cast<std::size_t>(read) / sizeof(words[0]); ++i) {
    if (words[i] <= module.begin || words[i] >= module.end) continue;
    for (const std::string& frame : symbolizer.frames(words[i]))
      if (is_own_line(frame)) return frame;
  }
  return {};
}

}  // namespace heddle
