// Memory that a recorded program has given back and that nobody has got since, as far as the trace has no
// variables there: what is accessed in it now was freed before.
//
// A trace names what it frees when it is freed. So memory that nobody has accessed is freed in pieces, each a
// variable; an access to some bytes of one makes them a part of it (trace/parts.h), and readers find the free
// in front of the access.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>

#include "base/hash.h"
#include "trace/parts.h"

namespace heddle {

class FreedMemory {
 public:
  static constexpr uint64_t kMostBytes = Parts::kMost;  // of a piece: each byte may become a part
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // The memory, of at most kMostBytes, was freed as that variable.
  void add(uint64_t begin, uint64_t end, uint32_t variable) { keep(begin, end, variable); }

  // The variable that the memory was freed as; kNone: it was not. It has a part from now on.
  uint32_t part_of(uint64_t address);

  bool any(uint64_t begin, uint64_t end) const {
    const auto piece = first_after(begin);
    return piece != pieces_.end() && piece->first < end;
  }

  // Calls `visit(variable)` for each that some of the memory was freed as.
  template <class Visit>
  void for_each(uint64_t begin, uint64_t end, Visit visit) const {
    for (auto piece = first_after(begin); piece != pieces_.end() && piece->first < end; ++piece)
      visit(piece->second.variable);
  }

  // Somebody has the memory now. Calls `end_variable(variable)` for those that are no more and never had a
  // part.
  template <class End>
  void forget(uint64_t begin, uint64_t end, End end_variable) {
    for (auto piece = first_after(begin); piece != pieces_.end() && piece->first < end;) {
      const auto [first, cut] = *piece;
      piece = pieces_.erase(piece);
      if (first < begin) keep(first, begin, cut.variable);
      if (end < cut.end) keep(end, cut.end, cut.variable);
      const auto use = uses_.find(cut.variable);
      if (--use.value().pieces > 0) continue;
      if (!use->second.has_parts) end_variable(cut.variable);
      uses_.erase(use);
    }
  }

 private:
  struct Piece {
    uint64_t end;
    uint32_t variable;
  };
  struct Use {
    uint32_t pieces = 0;  // that are left of it
    bool has_parts = false;
  };
  using Pieces = std::map<uint64_t, Piece>;  // by address

  // The first piece of which some lies after `begin`.
  Pieces::const_iterator first_after(uint64_t begin) const;
  void keep(uint64_t begin, uint64_t end, uint32_t variable);

  Pieces pieces_;
  tsl::robin_map<uint32_t, Use, MixHash> uses_;  // by variable
};

}  // namespace heddle
