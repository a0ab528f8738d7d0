// Variables of a recording that turned out to be several.
//
// A program is recorded while it runs: 8 bytes that were accessed as a whole are one variable, until somebody
// accesses some of the bytes alone. From then on there are several, its parts; what was done to the whole
// before was done to each of them. So a reader puts the parts in the place of the whole.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "trace/event.h"

namespace heddle {

class Names;

struct VariablePart {
  uint32_t variable;
  uint32_t whole;  // a variable too, with a smaller id

  friend bool operator==(const VariablePart&, const VariablePart&) = default;
};

class Parts {
 public:
  // Into how many a variable can come apart, all in all: the bytes of memory that is freed as one.
  static constexpr std::size_t kMost = 64;

  // To be called for all before the first resolve(). Returns what is wrong with it, in words; empty: nothing.
  std::string_view add(VariablePart part);
  // After the last add(). The same.
  std::string_view complete();

  bool empty() const { return wholes_.empty(); }
  // The events, with those of a whole replaced by one for each of its parts.
  void resolve(std::span<const Event> events, std::vector<Event>& resolved, Names& names) const;

  // The event, of memory that is these variables. What is read of all goes to one local: `r(x)>l`,
  // `r(y)>rest`, `set(l,l,rest)`.
  static void add_for_each(const Event& event, std::span<const uint32_t> variables, Names& names,
                           std::vector<Event>& to);

 private:
  tsl::robin_map<uint32_t, std::vector<uint32_t>, MixHash>
      wholes_;                                            // their parts; later, those without parts
  tsl::robin_map<uint32_t, uint32_t, MixHash> whole_of_;  // by part
};

}  // namespace heddle
