#include "types/owners.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace heddle::types {

namespace {

constexpr std::string_view kTypesVersionLine = "# heddle types 1";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

Owner parse_owner(std::string_view text, const std::string& where) {
  if (text == "unknown") return {};
  if (text == "thread-local") return {OwnerKind::kThread, ""};
  if (text == "readonly") return {OwnerKind::kReadonly, ""};
  if (text == "handed over") return {OwnerKind::kUnique, ""};
  constexpr std::string_view kGuarded = "guarded by ";
  constexpr std::string_view kGlobal = "global ";
  if (text.starts_with(kGuarded)) {
    std::string_view lock = trimmed(text.substr(kGuarded.size()));
    if (lock.starts_with(kGlobal))
      return {OwnerKind::kGlobal, "g:" + std::string(trimmed(lock.substr(kGlobal.size())))};
    if (!lock.empty())
      return {lock.find('/') == std::string_view::npos ? OwnerKind::kSelf : OwnerKind::kPath,
              std::string(lock)};
  }
  throw InputError(fmt::format(
      "{}: '{}' is no owner; there are 'guarded by MUTEX', 'guarded by global MUTEX', 'readonly', "
      "'thread-local', 'handed over' and 'unknown'",
      where, shortened(printable(text))));
}

}  // namespace

std::string owner_text(const Owner& owner) {
  switch (owner.kind) {
    case OwnerKind::kUnknown: return "unknown";
    case OwnerKind::kSelf:
    case OwnerKind::kPath: return "guarded by " + owner.lock;
    case OwnerKind::kGlobal: return "guarded by global " + owner.lock.substr(2);
    case OwnerKind::kThread: return "thread-local";
    case OwnerKind::kReadonly: return "readonly";
    case OwnerKind::kUnique: return "handed over";
  }
  return "";
}

std::string Types::text() const {
  std::string text(kTypesVersionLine);
  text += "\n# field PLACE: OWNER   # how sure, and why\n# method NAME: requires LOCK, …\n";
  for (const auto& [place, declared] : owners)
    text += fmt::format("field {}: {}  # {} %: {}\n", place, owner_text(declared.owner), declared.percent,
                        declared.evidence);
  for (const auto& [name, locks] : requires_) {
    if (locks.empty()) continue;
    std::string list;
    for (const std::string& lock : locks) list += (list.empty() ? "" : ", ") + lock;
    text += fmt::format("method {}: requires {}\n", name, list);
  }
  return text;
}

Types Types::parse(std::string_view text, const std::string& file) {
  Types types;
  std::size_t number = 0;
  for (std::string_view line : split(text, "\n")) {
    ++number;
    const std::string where = fmt::format("{}:{}", file, number);
    if (number == 1 && line != kTypesVersionLine)
      throw InputError(
          fmt::format("{}: no types file: it does not begin with '{}'; 'heddle types infer' makes one", where,
                      kTypesVersionLine));
    const std::size_t comment = line.find("  #");
    const std::string_view why = comment == std::string_view::npos ? "" : trimmed(line.substr(comment + 3));
    line = trimmed(line.substr(0, comment));
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    const std::size_t space = line.find(' ');
    if (colon == std::string_view::npos || space > colon)
      throw InputError(
          fmt::format("{}: '{}' is neither 'field PLACE: OWNER' nor 'method NAME: requires LOCK'", where,
                      shortened(printable(line))));
    const std::string_view kind = line.substr(0, space);
    const std::string name(trimmed(line.substr(space, colon - space)));
    const std::string_view rest = trimmed(line.substr(colon + 2));
    if (kind == "field") {
      DeclaredOwner declared{parse_owner(rest, where), "", 0};
      unsigned percent = 0;
      const auto [end, error] = std::from_chars(why.data(), why.data() + why.size(), percent);
      declared.percent = error == std::errc() ? percent : 0;
      const std::string_view after(end, static_cast<std::size_t>(why.data() + why.size() - end));
      declared.evidence = after.starts_with(" %: ") ? after.substr(4) : why;
      types.owners[name] = std::move(declared);
    } else if (kind == "method" && rest.starts_with("requires ")) {
      for (const std::string_view lock : split(rest.substr(9), ","))
        types.requires_[name].emplace(trimmed(lock));
    } else {
      throw InputError(
          fmt::format("{}: '{}' is neither 'field PLACE: OWNER' nor 'method NAME: requires LOCK'", where,
                      shortened(printable(line))));
    }
  }
  return types;
}

std::string guard_of(const Owner& owner, std::string_view path, std::string_view place) {
  if (owner.kind == OwnerKind::kGlobal) return owner.lock;
  if (!owner.is_lock() || path.size() <= place.size() || !path.ends_with(place)) return "";
  // "p0/Account::balance_" without "Account::balance_" is the object and its '/'.
  return std::string(path.substr(0, path.size() - place.size())) + owner.lock;
}

}  // namespace heddle::types
