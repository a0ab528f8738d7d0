#include "live/variables.h"

namespace heddle {

Variables::Line& Variables::find_line(uint64_t number) {
  const auto [entry, is_new] = lines_.try_emplace(number);
  if (!is_new) return stored_[entry->second];
  ++pages_[number >> kLinesPerPageBits];
  if (lines_.size() > near_.size() && near_.size() < kMostNear) near_.assign(near_.size() * 4, {});
  if (unused_lines_.empty()) {
    entry.value() = static_cast<uint32_t>(stored_.size());
    return stored_.emplace_back();
  }
  entry.value() = unused_lines_.back();
  unused_lines_.pop_back();
  return stored_[entry->second];
}

uint32_t Variables::make_pieces(const Pieces& pieces) {
  if (unused_.empty()) {
    divided_.push_back(pieces);
    return kDivided | static_cast<uint32_t>(divided_.size() - 1);
  }
  const uint32_t number = unused_.back();
  unused_.pop_back();
  divided_[number] = pieces;
  return kDivided | number;
}

void Variables::divide(uint64_t number, uint32_t& cell, unsigned first, unsigned size) {
  if (cell == 0 && size == 8) {
    cell = namer_.begin_variable(number * 8, false) + 1;
    return;
  }
  if ((cell & kDivided) == 0) {
    Pieces pieces{};
    if (cell != 0) pieces[0] = {cell - 1, 8, false};
    cell = make_pieces(pieces);
  }
  Pieces& pieces = divided_[cell & ~kDivided];
  // The common case: just this piece is there.
  if (pieces[first].size == size) return;
  const unsigned end = first + size;
  for (unsigned at = 0; at < 8;) {
    const unsigned length = pieces[at].size;
    if (length != 0) {
      divide_piece(number, pieces, at, first, end);
      at += length;
      continue;
    }
    unsigned free = 1;  // bytes that are in no piece yet
    while (at + free < 8 && pieces[at + free].size == 0 && at + free != first && at + free != end) ++free;
    if (at >= first && at < end)
      pieces[at] = {namer_.begin_variable(number * 8 + at, false), static_cast<uint8_t>(free), false};
    at += free;
  }
}

void Variables::divide_piece(uint64_t number, Pieces& pieces, unsigned at, unsigned first, unsigned end) {
  const Piece whole = pieces[at];
  const unsigned whole_end = at + whole.size;
  std::array<uint32_t, 3> parts{};
  unsigned count = 0;
  for (unsigned part = at; part < whole_end;) {
    const unsigned border = part < first ? first : part < end ? end : whole_end;
    const unsigned part_end = std::min(border, whole_end);
    if (part == at && part_end == whole_end) return;  // all of it, or nothing
    parts[count] = namer_.begin_variable(number * 8 + part, true);
    pieces[part] = {parts[count++], static_cast<uint8_t>(part_end - part), true};
    part = part_end;
  }
  ++changes_;
  namer_.divide_variable(whole.variable, std::span(parts).first(count));
}

void Variables::forget_cell(uint32_t& cell) {
  if (cell != 0) ++changes_;
  if (is_whole(cell)) {
    namer_.end_variable(cell - 1, false);
  } else if (cell != 0) {
    const uint32_t number = cell & ~kDivided;
    for (const Piece& piece : divided_[number])
      if (piece.size != 0) namer_.end_variable(piece.variable, piece.is_part);
    unused_.push_back(number);
  }
  cell = 0;
}

void Variables::forget(uint64_t address, uint64_t size) {
  if (size == 0) return;
  const uint64_t last = (address + size - 1) / 8;
  for (uint64_t cell = address / 8; cell <= last;) {
    const uint64_t line = cell / kCellsPerLine;
    const auto page = pages_.find(line >> kLinesPerPageBits);
    if (page == pages_.end()) {
      cell = (((line >> kLinesPerPageBits) + 1) << kLinesPerPageBits) * kCellsPerLine;
      continue;
    }
    const uint64_t line_end = (line + 1) * kCellsPerLine;
    const auto found = lines_.find(line);
    if (found == lines_.end()) {
      cell = line_end;
      continue;
    }
    Line& cells = stored_[found->second];
    for (; cell <= last && cell < line_end; ++cell) forget_cell(cells[cell % kCellsPerLine]);
    if (cells != Line{}) continue;
    near_[line % near_.size()] = {};
    unused_lines_.push_back(found->second);
    lines_.erase(found);
    if (--page.value() == 0) pages_.erase(page);
  }
}

void Variables::forget_all() {
  for (const auto& [number, line] : lines_)
    for (uint32_t& cell : stored_[line]) forget_cell(cell);
  lines_.clear();
  pages_.clear();
  stored_.clear();
  unused_lines_.clear();
  near_.assign(kFewNear, {});
}

}  // namespace heddle
