#include "live/variables.h"

namespace heddle {

Variables::Cell& Variables::divide(uint64_t number, unsigned first, unsigned size) {
  const auto [entry, is_new] = cells_.try_emplace(number);
  Cell& cell = entry.value();
  if (is_new) ++pages_[number >> kCellsPerPageBits];
  // The common case: just this piece is there.
  if (cell.piece[first].size == size) return cell;
  const unsigned end = first + size;
  for (unsigned at = 0; at < 8;) {
    const unsigned length = cell.piece[at].size;
    if (length != 0) {
      divide_piece(number, cell, at, first, end);
      at += length;
      continue;
    }
    unsigned free = 1;  // bytes that are in no piece yet
    while (at + free < 8 && cell.piece[at + free].size == 0 && at + free != first && at + free != end) ++free;
    if (at >= first && at < end)
      cell.piece[at] = {namer_.begin_variable(number * 8 + at, false), static_cast<uint8_t>(free), false};
    at += free;
  }
  return cell;
}

void Variables::divide_piece(uint64_t number, Cell& cell, unsigned at, unsigned first, unsigned end) {
  const Piece whole = cell.piece[at];
  const unsigned whole_end = at + whole.size;
  std::array<uint32_t, 3> parts{};
  unsigned count = 0;
  for (unsigned part = at; part < whole_end;) {
    const unsigned border = part < first ? first : part < end ? end : whole_end;
    const unsigned part_end = std::min(border, whole_end);
    if (part == at && part_end == whole_end) return;  // all of it, or nothing
    parts[count] = namer_.begin_variable(number * 8 + part, true);
    cell.piece[part] = {parts[count++], static_cast<uint8_t>(part_end - part), true};
    part = part_end;
  }
  namer_.divide_variable(whole.variable, std::span(parts).first(count));
}

void Variables::forget_cell(uint64_t number) {
  const auto found = cells_.find(number);
  if (found == cells_.end()) return;
  for (const Piece& piece : found->second.piece)
    if (piece.size != 0) namer_.end_variable(piece.variable, piece.is_part);
  cells_.erase(found);
  const auto page = pages_.find(number >> kCellsPerPageBits);
  if (--page.value() == 0) pages_.erase(page);
}

void Variables::forget(uint64_t address, uint64_t size) {
  if (size == 0) return;
  const uint64_t last = (address + size - 1) / 8;
  for (uint64_t cell = address / 8; cell <= last;) {
    const uint64_t page = cell >> kCellsPerPageBits;
    const uint64_t page_end = (page + 1) << kCellsPerPageBits;
    if (pages_.find(page) == pages_.end()) {
      cell = page_end;
      continue;
    }
    for (; cell <= last && cell < page_end; ++cell) forget_cell(cell);
  }
}

}  // namespace heddle
