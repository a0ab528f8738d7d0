#include "report/source_excerpts.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "report/location.h"

namespace heddle {

namespace {

constexpr uint32_t kAround = 6;            // lines before and after
constexpr uint32_t kAroundCaller = 2;      // the same for a caller's line
constexpr std::size_t kMostCallers = 12;   // of a step
constexpr uint32_t kWidestGap = 24;        // between two lines of a thread that are shown as one piece
constexpr std::size_t kLongestLine = 400;  // bytes
constexpr std::size_t kTab = 4;            // columns
constexpr uintmax_t kLargestFile = 16'000'000;
constexpr std::size_t kMostBytes = 4'000'000;  // of all excerpts

// A findings file may come from anywhere, and what it names becomes a part of the page: only what is source
// code does.
bool is_source_name(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 18> kExtensions = {".c",   ".cc",  ".cpp", ".cxx", ".c++", ".C",
                                                            ".h",   ".hh",  ".hpp", ".hxx", ".h++", ".H",
                                                            ".inl", ".ipp", ".tcc", ".tpp", ".ixx", ".cppm"};
  const std::string extension = path.extension().string();
  if (!extension.empty())
    return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
  // Headers of the standard library have none.
  return std::find(path.begin(), path.end(), "include") != path.end();
}

// Tabs are layout, not control codes.
std::string shown_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool is_long = line.size() > kLongestLine;
  std::string text;
  for (const char c : line.substr(0, kLongestLine)) {
    if (c == '\t') {
      text.append(kTab - text.size() % kTab, ' ');
    } else {
      text += c;
    }
  }
  // A character that the cut has divided is not the file's fault.
  while (is_long && !text.empty() && (static_cast<uint8_t>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
  if (is_long && !text.empty() && static_cast<uint8_t>(text.back()) >= 0xC0U) text.pop_back();
  return printable(text) + (is_long ? "…" : "");
}

void add_around(std::set<uint32_t>& lines, uint32_t line, uint32_t around) {
  for (uint32_t i = line > around ? line - around : 1; i <= line + around; ++i) lines.insert(i);
}

}  // namespace

void SourceExcerpts::add(const std::vector<Step>& steps) {
  std::map<std::pair<std::string, std::string>, uint32_t>
      latest;  // by thread and file: line of the step before
  for (const Step& step : steps) {
    for (std::size_t i = 0; i < step.frames.size() && i <= kMostCallers; ++i) {
      const Location place = parse_location(step.frames[i]);
      if (place.file.empty() || place.line == 0) continue;
      std::set<uint32_t>& lines = wanted_[place.file];
      add_around(lines, place.line, i == 0 ? kAround : kAroundCaller);
      if (i > 0) continue;
      // What lies between two steps of one function is worth seeing.
      const auto [before, is_new] = latest.try_emplace({step.thread, place.file}, place.line);
      const auto [low, high] = std::minmax(before->second, place.line);
      if (high - low <= kWidestGap)
        for (uint32_t line = low; line < high; ++line) lines.insert(line);
      before->second = place.line;
    }
  }
}

void SourceExcerpts::add(const Finding& finding) {
  add(finding.steps);
  for (const Delay& delay : finding.delays) add({delay.write, delay.until});
  for (const Chain& chain : finding.chains) add(chain.steps);
}

std::string SourceExcerpts::find(const std::string& file) const {
  std::error_code none;
  for (const std::string& directory : directories_) {
    const std::filesystem::path path = std::filesystem::path(directory) / file;  // an absolute name stays
    if (std::filesystem::is_regular_file(path, none)) return path.string();
  }
  return {};
}

SourceExcerpt SourceExcerpts::read(const std::string& file, const std::set<uint32_t>& wanted,
                                   std::size_t& room) const {
  const auto missing = [](std::string why) { return SourceExcerpt{{}, std::move(why)}; };
  if (!is_source_name(file)) return missing("not shown: not a name of a C or C++ source file");
  const std::string path = find(file);
  if (path.empty()) return missing("not found where this page was made");
  // A link may be called like source and lead anywhere.
  std::error_code failed;
  if (!is_source_name(std::filesystem::canonical(path, failed)) || failed)
    return missing("not shown: it leads to what is not named like a C or C++ source file");
  if (std::filesystem::file_size(path, failed) > kLargestFile || failed) return missing("too large");
  std::string content;
  try {
    content = read_whole_file(path);
  } catch (const InputError&) {
    return missing("cannot be read");
  }
  SourceExcerpt excerpt;
  uint32_t number = 0;
  auto next = wanted.begin();
  for (const std::string_view line : split(content, "\n")) {
    ++number;
    while (next != wanted.end() && *next < number) ++next;
    if (next == wanted.end()) break;
    if (*next != number) continue;
    std::string text = shown_line(line);
    if (text.size() > room) return missing("left out: this page shows no more source than it does");
    room -= text.size();
    excerpt.lines.emplace(number, std::move(text));
  }
  if (excerpt.lines.empty()) excerpt.missing = "shorter now than the lines that are named";
  return excerpt;
}

std::map<std::string, SourceExcerpt> SourceExcerpts::read() const {
  std::map<std::string, SourceExcerpt> result;
  std::size_t room = kMostBytes;
  for (const auto& [file, lines] : wanted_) result.emplace(file, read(file, lines, room));
  return result;
}

}  // namespace heddle
