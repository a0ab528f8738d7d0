#include "live/sites.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace heddle {

namespace {

// Callers past these are not told.
constexpr std::size_t kMostFrames = 32;

bool is_library(std::string_view frame) {
  const std::size_t in = frame.find("in ");
  const std::string_view function = in == std::string_view::npos ? frame : frame.substr(in + 3);
  // Our runtime is one of those who call back: handlers of signals. So are the loops of heddle/parallel.h.
  return function.starts_with("heddle::") || function.starts_with("std::") ||
         function.starts_with("__gnu_cxx::") || function.starts_with("__g") ||
         function.starts_with("__libc_start") || frame.find("/include/c++/") != std::string_view::npos ||
         frame.find("(libstdc++") != std::string_view::npos || frame.starts_with("libstdc++");
}

// What calls main and the constructors of global objects, where the system's libraries do not say its name:
// "libc.so.6+0x27249".
bool is_start_code(std::string_view frame) {
  return (frame.starts_with("libc.so") || frame.starts_with("ld-linux")) &&
         frame.find("+0x") != std::string_view::npos && frame.find(' ') == std::string_view::npos;
}

// The text format's separators must not stand in a frame.
void make_plain(std::string& frame) {
  std::replace(frame.begin(), frame.end(), '|', '/');
  for (std::size_t at = frame.find(" < "); at != std::string::npos; at = frame.find(" < ")) frame[at] = '_';
}

}  // namespace

SiteId Sites::site_of(const runtime::Record& record) {
  const Key key{record.pc, record.caller, record.context};
  if (key == Key()) return kNoId;
  Known& latest = latest_[(key.pc ^ key.pc >> 10 ^ uint64_t{key.context} * 37) % latest_.size()];
  if (latest.key == key) return latest.site;
  const auto [entry, is_new] = sites_.try_emplace(key, kNoId);
  if (is_new) entry.value() = make_site(key);
  latest = {key, entry->second};
  return entry->second;
}

SiteId Sites::make_site(const Key& key) {
  std::vector<std::string> own;      // the program's
  std::vector<std::string> library;  // the standard library's, shown when there is nothing else
  const auto add = [&](uint64_t pc) {
    if (pc == 0) return;
    for (std::string frame : symbolizer_.frames(pc)) {
      make_plain(frame);
      std::vector<std::string>& to = is_library(frame) ? library : own;
      // Recursion says no more than its first round.
      if (to.empty() || to.back() != frame) to.push_back(std::move(frame));
    }
  };
  add(key.pc);
  add(key.caller);
  for (const uint64_t pc : reader_.stack(key.context, kMostFrames)) add(pc);
  while (!own.empty() && own.size() + library.size() > 1 && is_start_code(own.back())) own.pop_back();
  std::vector<std::string>& frames = own.empty() ? library : own;
  if (frames.size() > kMostFrames) frames.resize(kMostFrames);
  std::string text;
  for (const std::string& frame : frames) {
    if (!text.empty()) text += " < ";
    text += frame;
  }
  return names_.intern_site(text);
}

std::string Sites::short_place(SiteId site) const {
  if (site == kNoId) return {};
  const std::vector<std::string> frames = names_.frames(site);
  if (frames.empty()) return {};
  // Without debug information there is the function at most: "in Account::withdraw (my_test)".
  if (frames.front().starts_with("in ")) return frames.front().substr(3, frames.front().rfind(" (") - 3);
  std::string place = frames.front().substr(0, frames.front().find(" in "));
  // Without directories and column.
  const std::size_t slash = place.rfind('/');
  if (slash != std::string::npos) place = place.substr(slash + 1);
  const std::size_t line = place.find(':');
  if (line != std::string::npos) place = place.substr(0, place.find(':', line + 1));
  return place;
}

}  // namespace heddle
