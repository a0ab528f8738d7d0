// What the ids in a trace's events stand for: one string table per space, and the call stacks behind sites.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/string_table.h"
#include "trace/event.h"
#include "trace/parts.h"

namespace heddle {

// A call stack, innermost frame first, kept as a tree: a site is a frame and the site of its caller.
// The text format writes a stack as its frames joined by " < ".
class SiteTable {
 public:
  struct Site {
    uint32_t frame = kNoId;  // in Space::kFrame
    SiteId caller = kNoId;   // the rest of the stack
  };

  // Takes a site as the next id (a binary file's table). The caller must have a smaller id.
  SiteId append(Site site);
  const Site& operator[](SiteId id) const { return sites_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(sites_.size()); }

  // The site written as `text`; its frames go to `frames`.
  SiteId intern(std::string_view text, StringTable& frames);

 private:
  std::vector<Site> sites_;                             // by id
  StringTable texts_;                                   // every text interned
  std::vector<SiteId> site_of_text_;                    // by id in texts_
  tsl::robin_map<uint64_t, SiteId, MixHash> interned_;  // (frame, caller) → site, of sites made by intern()
};

class Names {
 public:
  StringTable& table(Space space) { return tables_[static_cast<std::size_t>(space)]; }
  const StringTable& table(Space space) const { return tables_[static_cast<std::size_t>(space)]; }
  SiteTable& sites() { return sites_; }
  const SiteTable& sites() const { return sites_; }

  // The name behind an id; empty for kNoId.
  std::string_view name(Space space, uint32_t id) const {
    return id == kNoId ? std::string_view() : table(space)[id];
  }
  std::string_view thread(ThreadId id) const { return name(Space::kThread, id); }
  // As reports call it: of "Account::balance_#2", one of several with that name, all but the number.
  std::string_view variable(uint32_t id) const {
    const std::string_view whole = name(Space::kVariable, id);
    const std::size_t number = whole.find_last_not_of("0123456789");
    return number != std::string_view::npos && whole[number] == '#' ? whole.substr(0, number) : whole;
  }
  std::string_view lock(uint32_t id) const { return name(Space::kLock, id); }

  // Of a trace that is being recorded, in the order in which they came up. Readers resolve them.
  std::vector<VariablePart>& parts() { return parts_; }
  const std::vector<VariablePart>& parts() const { return parts_; }

  SiteId intern_site(std::string_view text) { return sites_.intern(text, table(Space::kFrame)); }
  // The frames of a site, innermost first; none for kNoId.
  std::vector<std::string> frames(SiteId site) const;
  // The site as the text format writes it; empty for kNoId.
  std::string site_text(SiteId site) const;
  void append_site_text(std::string& to, SiteId site) const;

 private:
  std::array<StringTable, kSpaces> tables_;
  SiteTable sites_;
  std::vector<VariablePart> parts_;
};

// The operation of an event as the text format writes it: "r(x)", "begin(Account::withdraw)".
std::string operation_text(const Event& event, const Names& names);
void append_operation_text(std::string& to, const Event& event, const Names& names);

}  // namespace heddle
