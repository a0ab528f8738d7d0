#include "live/freed_memory.h"

#include <iterator>

namespace heddle {

FreedMemory::Pieces::const_iterator FreedMemory::first_after(uint64_t begin) const {
  const auto next = pieces_.upper_bound(begin);
  if (next == pieces_.begin()) return next;
  const auto before = std::prev(next);
  return before->second.end > begin ? before : next;
}

void FreedMemory::keep(uint64_t begin, uint64_t end, uint32_t variable) {
  pieces_.emplace(begin, Piece{end, variable});
  ++uses_[variable].pieces;
}

uint32_t FreedMemory::part_of(uint64_t address) {
  const auto piece = first_after(address);
  if (piece == pieces_.end() || piece->first > address) return kNone;
  uses_[piece->second.variable].has_parts = true;
  return piece->second.variable;
}

}  // namespace heddle
