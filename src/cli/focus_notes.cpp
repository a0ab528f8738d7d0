#include "cli/focus_notes.h"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "symbols/executable.h"

namespace heddle {

namespace {

constexpr std::string_view kNone = "-";

// "HASH FILE" of each focus file; kNone: of objects that have none.
std::set<std::string> notes_of(const std::string& program) {
  std::set<std::string> notes;
  if (program.empty()) return notes;
  const std::string bytes = section_bytes(program, "heddle_focus_notes");
  for (const std::string_view note : split(bytes, std::string_view("\0", 1)))
    if (!note.empty()) notes.emplace(note);
  if (!notes.empty() && has_parts_for_thread_sanitizer(program)) notes.emplace(kNone);
  return notes;
}

// Files whose code the process has.
std::set<std::string> code_of_process(int pid) {
  std::set<std::string> files = {fmt::format("/proc/{}/exe", pid)};
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find(" r-xp ") < path) files.insert(line.substr(path));
  }
  return files;
}

std::string complaint_about(const std::set<std::string>& notes, const std::string& name) {
  if (notes.size() < 2) return "";
  std::string with;
  for (const std::string& note : notes)
    if (note != kNone) with += (with.empty() ? "" : ", ") + printable(note.substr(note.find(' ') + 1));
  return fmt::format(
      "{} was put together from objects built with different focus: {}{}; what one of them leaves to the "
      "others "
      "nobody checks. Build all of it with one --heddle-focus=FILE, or all without",
      printable(name), with,
      notes.contains(std::string(kNone)) ? " and none" : " (as they were at different times)");
}

}  // namespace

bool is_focused(const std::string& program) {
  std::set<std::string> notes = notes_of(program);
  notes.erase(std::string(kNone));
  return !notes.empty();
}

std::string mixed_focus(const std::string& file, const std::string& name) {
  return complaint_about(notes_of(file), name);
}

std::string mixed_focus_of_process(int pid, const std::string& name) {
  std::set<std::string> notes;
  for (const std::string& file : code_of_process(pid)) notes.merge(notes_of(file));
  return complaint_about(notes, name);
}

void refuse_mixed_focus(const std::string& program) {
  if (const std::string what = mixed_focus(program, program); !what.empty()) throw InputError(what);
}

}  // namespace heddle
