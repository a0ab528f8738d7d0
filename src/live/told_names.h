// Names for what lies at the addresses of a running program: what debug information calls it, which field of
// an object it is whose member function ran, what the compiler plug-in says, else where it was first used.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "live/sites.h"
#include "symbols/symbolizer.h"
#include "trace/names.h"

namespace heddle {

// Names of a trace hold no white space, bars, brackets or commas: others stand for them.
std::string plain(std::string name);

class ToldNames {
 public:
  ToldNames(Names& names, Symbolizer& symbolizer, const Sites& sites)
      : names_(names), symbolizer_(symbolizer), sites_(sites) {}

  // What lies at an address. `given`: where the program's own name for it lies, 0 for none; `kind`: what to
  // call it when it has no name.
  struct Thing {
    uint64_t address;
    uint64_t given;
    SiteId site;
    std::string_view kind;
  };
  // A new number in the space, with the thing's name, or that name and a number when it is not the first.
  uint32_t add(Space space, const Thing& thing) { return add(space, number_of(space, thing)); }
  uint32_t add(Space space, const std::string& name) { return add(space, number_of(space, name)); }
  // The same, or the number of something that had the name and has ended.
  uint32_t add_or_reuse(Space space, const Thing& thing);
  // Several at once, one behind the other in memory up to `end`, with numbers in a row: the first one's.
  // kNoId: some have names of their own, or there are others to use again.
  uint32_t add_row_or_reuse(Space space, const Thing& first, uint64_t end, uint32_t count);
  void end(Space space, uint32_t number) { end_row(space, number, 1); }
  void end_row(Space space, uint32_t first, uint32_t count);

  // The text that the program has at the address.
  const std::string& text_at(uint64_t address);

  // A member function, at that code address, of an object runs.
  void meet_object(uint64_t address, uint64_t pc);
  void forget_objects(uint64_t begin, uint64_t end);
  void forget_all_objects() { objects_.clear(); }

 private:
  struct Object {
    uint64_t size;
    uint64_t pc;  // in a member function
    std::string name;
  };
  struct Row {  // things with numbers in a row
    uint32_t first;
    uint32_t count;
  };
  struct UsedName {
    std::string text;
    uint32_t count = 0;      // things that got it
    std::vector<Row> ended;  // those whose life is over: the next one is one of them again
    uint32_t all_ended = 0;  // how many those are
  };
  struct UsedNames {
    tsl::robin_map<std::string, uint32_t> numbers;  // in names
    std::vector<UsedName> names;
    std::vector<uint32_t> by_thing;  // which name each has
  };

  // Of what lies there, if it is a variable or a member that is known; else empty.
  std::string own_name(const Thing& thing);
  // Of what has no other: all that is met in one place has one name; empty: it is not known where.
  std::string name_by_place(const Thing& thing);
  std::string field_at(uint64_t address);
  bool may_have_own_names(uint64_t begin, uint64_t end) const;
  // Names of a space have numbers of their own, in UsedNames.
  uint32_t number_of(Space space, const std::string& name);
  uint32_t number_of(Space space, const Thing& thing);
  uint32_t add(Space space, uint32_t number);
  UsedNames& used(Space space) { return used_names_[static_cast<std::size_t>(space)]; }

  Names& names_;
  Symbolizer& symbolizer_;
  const Sites& sites_;
  tsl::robin_map<uint64_t, std::string, MixHash> texts_;  // by address
  std::map<uint64_t, Object> objects_;                    // by address
  std::vector<UsedNames> used_names_ = std::vector<UsedNames>(kSpaces);
  // The latest names by place: elements of arrays come one after the other.
  struct ByPlace {
    Space space = {};
    uint64_t given = 0;
    SiteId site = kNoId;
    std::string_view kind;  // empty: there is none
    uint32_t number = 0;
  };
  std::array<ByPlace, 256> latest_;
  std::string text_;
};

}  // namespace heddle
