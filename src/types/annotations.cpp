#include "types/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "types/path.h"

namespace heddle::types {

namespace {

constexpr std::size_t kContext = 3;

struct SourceText {
  std::vector<std::string> before;
  std::vector<std::string> after;  // a line each; of the first changed one, with what is put before it
};

struct Place {
  std::string file;
  std::size_t line = 0;  // from 1
};

std::optional<Place> place_of_site(const std::string& site) {
  const std::vector<std::string_view> parts = split(site, ":");
  if (parts.size() < 2) return std::nullopt;
  Place place;
  place.file = parts[0];
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), place.line);
  return place.line == 0 ? std::nullopt : std::optional(place);
}

std::string last_name(std::string_view qualified) {
  const std::size_t at = qualified.rfind("::");
  return std::string(at == std::string_view::npos ? qualified : qualified.substr(at + 2));
}

class Patch {
 public:
  Patch(const Program& program, const Types& types, const CheckResult& result)
      : program_(program), types_(types), result_(result) {}

  std::string make() {
    choose_locks();
    for (const auto& [place, verdict] : result_.fields) annotate_field(place, verdict);
    for (const auto& [name, locks] : types_.requires_) annotate_method(name, locks);
    for (const std::string& lock : used_) replace_mutex(lock);
    replace_guards();
    return notes_ + diff();
  }

 private:
  void leave_out(const std::string& what, const std::string& why) {
    notes_ += fmt::format("# {}: {}\n", what, why);
  }

  // Mutexes that are waited with stay as they are: std::condition_variable takes no other.
  void choose_locks() {
    for (const auto& [symbol, function] : program_.functions)
      for (const Block& block : function.blocks)
        for (const Operation& operation : block.operations) {
          if (operation.kind == OperationKind::kWait) waited_.insert(types::place_of(operation.path));
          if (operation.kind == OperationKind::kAcquire || operation.kind == OperationKind::kAcquireShared)
            acquisitions_[types::place_of(operation.path)].insert(operation.site);
          if (operation.kind == OperationKind::kAcquireShared)
            shared_.insert(types::place_of(operation.path));
        }
    for (const auto& [symbol, function] : program_.functions) find_locks_of_elements(function);
  }

  // An element that is locked by one name and used by another: clang compares names, not numbers.
  void find_locks_of_elements(const Function& function) {
    std::set<std::string> elements;
    for (const Block& block : function.blocks)
      for (const Operation& operation : block.operations)
        if (operation.kind == OperationKind::kElement)
          elements.insert(operation.arguments.begin(), operation.arguments.end());
    for (const Block& block : function.blocks)
      for (const Operation& operation : block.operations)
        if (operation.kind == OperationKind::kAcquire &&
            elements.contains(std::string(root_of(operation.path))))
          of_elements_.insert(types::place_of(operation.path));
  }

  SourceText* source(const std::string& file) {
    std::string path = file;
    for (const auto& [known, hash] : program_.sources)
      if (known == file || known.ends_with("/" + file)) path = known;
    if (path.starts_with("/usr/")) return nullptr;
    const std::string shown = std::filesystem::exists(file) ? file : path;
    const auto [entry, is_new] = sources_.try_emplace(shown);
    if (is_new) {
      std::error_code none;
      if (std::filesystem::is_regular_file(shown, none)) {
        const std::string text = read_whole_file(shown);
        for (const std::string_view line : split(text, "\n")) entry->second.before.emplace_back(line);
      }
      entry->second.after = entry->second.before;
    }
    return entry->second.before.empty() ? nullptr : &entry->second;
  }

  // The line to change; null: there is none, or it does not have the word.
  std::string* line_at(const std::string& site, const std::string& word) {
    const std::optional<Place> place = place_of_site(site);
    SourceText* const text = place ? source(place->file) : nullptr;
    if (text == nullptr || place->line > text->after.size()) return nullptr;
    std::string& line = text->after[place->line - 1];
    return line.find(word) == std::string::npos ? nullptr : &line;
  }

  bool is_fit(const std::string& lock) const { return !waited_.contains(lock) && !shared_.contains(lock); }

  void annotate_field(const std::string& place, const FieldVerdict& verdict) {
    if (!verdict.owner.is_lock()) return;
    const std::string& lock = verdict.owner.lock;
    if (!verdict.is_proven()) return leave_out(place, fmt::format("not proven: {}", verdict.why));
    if (verdict.owner.kind == OwnerKind::kPath || place.find('/') != std::string::npos ||
        place.ends_with(kElement))
      return leave_out(place, "its owner has no short name for an attribute");
    if (verdict.early_accesses > 0)
      return leave_out(place, "it is used without the lock before it is shared, which clang does not see");
    if (of_elements_.contains(lock))
      return leave_out(
          place, fmt::format("{} is held by another name of the element, which clang does not see", lock));
    if (!is_fit(lock)) return leave_out(place, fmt::format("{} is waited with or held shared", lock));
    const Member* const member = program_.member(place);
    const auto global = program_.globals.find(place);
    const std::string site = member != nullptr                  ? member->site
                             : global != program_.globals.end() ? global->second
                                                                : "";
    const std::string name = is_global(place) ? last_name(place.substr(2)) : last_name(place);
    std::string* const line = line_at(site, name);
    if (line == nullptr) return leave_out(place, "its declaration was not found");
    if (is_global(place) && !comes_before(lock, site))
      return leave_out(place, fmt::format("{} is declared behind it", lock.substr(2)));
    // Behind the name and its array bounds.
    const std::regex declared(fmt::format(R"(^(.*\b{}\b\s*(?:\[[^\]]*\]\s*)*?)\s*(=|\{{|;|,|\())", name));
    std::smatch found;
    if (line->find("HEDDLE_GUARDED_BY") != std::string::npos || !std::regex_search(*line, found, declared))
      return leave_out(place, "its declaration is not on one line of its own");
    std::string before = found[1].str();
    while (before.ends_with(' ')) before.pop_back();
    const std::string rest = line->substr(before.size());
    *line = fmt::format("{} HEDDLE_GUARDED_BY({}){}{}", before,
                        is_global(lock) ? lock.substr(2) : last_name(lock),
                        rest.starts_with(';') || rest.starts_with(' ') ? "" : " ", rest);
    used_.insert(lock);
  }

  bool comes_before(const std::string& lock, const std::string& site) const {
    const auto found = program_.globals.find(lock);
    const std::optional<Place> first =
        found == program_.globals.end() ? std::nullopt : place_of_site(found->second);
    const std::optional<Place> second = place_of_site(site);
    return first && second && first->file == second->file && first->line < second->line;
  }

  void annotate_method(const std::string& name, const std::set<std::string>& locks) {
    for (const std::string& path : locks) {
      const std::string lock = types::place_of(path);
      if (!used_.contains(lock)) continue;
      if (!is_global(lock) && path != "p0/" + lock) {
        leave_out(name, fmt::format("requires {}, which has no short name for an attribute", path));
        continue;
      }
      for (const auto& [symbol, method] : result_.methods) {
        if (method.name != name) continue;
        std::string* const line = line_at(method.site, last_name(name));
        const std::size_t end =
            line == nullptr ? std::string::npos : line->find_first_of("{;", line->find(')'));
        const std::string attribute =
            fmt::format("HEDDLE_REQUIRES({})", is_global(lock) ? lock.substr(2) : last_name(lock));
        if (end == std::string::npos) {
          leave_out(name, "requires " + path + ", but its declaration is not on one line");
        } else if (line->find(attribute) == std::string::npos) {
          const bool is_spaced = (*line)[end - 1] == ' ';
          line->insert(end, (is_spaced ? "" : " ") + attribute + ((*line)[end] == '{' ? " " : ""));
        }
        break;
      }
    }
  }

  void replace_mutex(const std::string& lock) {
    const Member* const member = program_.member(lock);
    const auto global = program_.globals.find(lock);
    const std::string site = member != nullptr                  ? member->site
                             : global != program_.globals.end() ? global->second
                                                                : "";
    std::string* const line = line_at(site, "std::mutex");
    if (line == nullptr)
      return leave_out(lock, "is no std::mutex declared on one line: make it a heddle::Mutex");
    line->replace(line->find("std::mutex"), 10, "heddle::Mutex");
    if (const std::optional<Place> place = place_of_site(site)) needs_header_.insert(place->file);
  }

  void replace_guards() {
    static const std::regex guard(R"(std::(lock_guard|unique_lock|scoped_lock)\s*(<[^<>]*>)?)");
    for (const std::string& lock : used_)
      for (const std::string& site : acquisitions_[lock])
        if (std::string* const line = line_at(site, "std::"); line != nullptr) {
          *line = std::regex_replace(*line, guard, "heddle::MutexLock");
          if (const std::optional<Place> place = place_of_site(site)) needs_header_.insert(place->file);
        }
  }

  std::string diff() {
    for (const std::string& file : needs_header_) {
      SourceText* const text = source(file);
      if (text == nullptr) continue;
      // In front of the first include, where headers stand.
      for (std::size_t i = 0; i < text->before.size(); ++i)
        if (text->before[i].starts_with("#include")) {
          text->after[i] = "#include <heddle/thread_safety.h>\n" + text->after[i];
          break;
        }
    }
    std::string all;
    for (const auto& [path, text] : sources_) all += diff_of(path, text);
    return all;
  }

  static std::string diff_of(const std::string& path, const SourceText& text) {
    std::string hunks;
    const std::size_t lines =
        text.before.size() - (text.before.empty() || !text.before.back().empty() ? 0 : 1);
    const auto is_changed = [&](std::size_t i) { return text.before[i] != text.after[i]; };
    std::ptrdiff_t added = 0;  // lines, in front of the hunk
    for (std::size_t i = 0; i < lines; ++i) {
      if (!is_changed(i)) continue;
      const std::size_t begin = i < kContext ? 0 : i - kContext;
      std::size_t last = i;
      for (std::size_t j = i; j < lines && j <= last + 2 * kContext; ++j)
        if (is_changed(j)) last = j;
      const std::size_t end = std::min(lines, last + kContext + 1);
      std::string body;
      std::ptrdiff_t more = 0;
      for (std::size_t j = begin; j < end;) {
        if (!is_changed(j)) {
          body += " " + text.before[j++] + "\n";
          continue;
        }
        std::size_t stop = j;
        while (stop < end && is_changed(stop)) ++stop;
        // A line put in front of one that stays.
        if (stop == j + 1 && text.after[j].ends_with("\n" + text.before[j])) {
          const std::size_t size = text.after[j].size() - text.before[j].size() - 1;
          body += "+" + text.after[j].substr(0, size) + "\n " + text.before[j] + "\n";
          ++more;
          j = stop;
          continue;
        }
        for (std::size_t k = j; k < stop; ++k) body += "-" + text.before[k] + "\n";
        for (std::size_t k = j; k < stop; ++k)
          for (const std::string_view part : split(text.after[k], "\n"))
            body += "+" + std::string(part) + "\n";
        for (std::size_t k = j; k < stop; ++k)
          more += std::count(text.after[k].begin(), text.after[k].end(), '\n');
        j = stop;
      }
      hunks += fmt::format("@@ -{},{} +{},{} @@\n", begin + 1, end - begin,
                           static_cast<std::ptrdiff_t>(begin) + 1 + added,
                           static_cast<std::ptrdiff_t>(end - begin) + more);
      hunks += body;
      added += more;
      i = end - 1;
    }
    return hunks.empty() ? "" : fmt::format("--- {}\n+++ {}\n{}", path, path, hunks);
  }

  const Program& program_;
  const Types& types_;
  const CheckResult& result_;
  std::string notes_;
  std::map<std::string, SourceText> sources_;  // by path, as the patch names it
  std::set<std::string> waited_;               // places of locks
  std::set<std::string> shared_;               // the same
  std::set<std::string> of_elements_;          // locks of elements that are used by another name
  std::map<std::string, std::set<std::string>> acquisitions_;  // sites, by place of the lock
  std::set<std::string> used_;                                 // locks that attributes name
  std::set<std::string> needs_header_;
};

}  // namespace

std::string annotation_patch(const Program& program, const Types& types, const CheckResult& result) {
  return Patch(program, types, result).make();
}

}  // namespace heddle::types
