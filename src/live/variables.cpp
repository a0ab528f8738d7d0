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
  if (is_row(cell)) leave_row(number, cell);
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

uint64_t Variables::count_untouched(uint64_t number, uint64_t limit) {
  uint64_t count = 0;
  while (count < limit) {
    const uint64_t line = (number + count) / kCellsPerLine;
    const uint64_t here = std::min(limit, (line + 1) * kCellsPerLine - number);
    const auto found = lines_.find(line);
    if (found == lines_.end()) {
      count = here;
      continue;
    }
    const Line& cells = stored_[found->second];
    for (; count < here; ++count)
      if (cells[(number + count) % kCellsPerLine] != 0) return count;
  }
  return count;
}

void Variables::begin_row(uint64_t address, unsigned size, uint64_t count) {
  constexpr uint64_t kFewCells = 8;
  constexpr uint64_t kMostCells = uint64_t{1} << 20;
  if ((size != 1 && size != 2 && size != 4 && size != 8) || address % size != 0) return;
  const uint64_t number = (address + 7) / 8;
  const uint64_t end = (address + size * count) / 8;
  if (end < number + kFewCells) return;
  const uint64_t cells = count_untouched(number, std::min(end - number, kMostCells));
  if (cells < kFewCells) return;
  const uint32_t first = namer_.begin_row(number * 8, size, static_cast<uint32_t>(cells * 8 / size));
  if (first == kNone) return;
  if (size == 8) {
    for (uint64_t i = 0; i < cells; ++i) cell_at(number + i) = first + 1 + static_cast<uint32_t>(i);
    return;
  }
  const uint32_t row = make_row(number, size, cells, first);
  for (uint64_t i = 0; i < cells; ++i) cell_at(number + i) = kDivided | kInRow | row;
}

uint32_t Variables::make_row(uint64_t number, unsigned size, uint64_t cells, uint32_t variable) {
  // The one that it goes on, if there is one.
  const uint32_t before = cell_at(number - 1);
  if (is_in_row(before, 0, size) && row_of(before).size == size &&
      row_of(before).variable_at(number * 8) == variable) {
    const uint32_t row = before & ~(kDivided | kInRow);
    rows_[row].cells += static_cast<uint32_t>(cells);
    return row;
  }
  const Row made = {number * 8, variable, static_cast<uint32_t>(cells), static_cast<uint8_t>(size)};
  if (unused_rows_.empty()) {
    rows_.push_back(made);
    return static_cast<uint32_t>(rows_.size() - 1);
  }
  const uint32_t row = unused_rows_.back();
  unused_rows_.pop_back();
  rows_[row] = made;
  return row;
}

void Variables::drop_from_row(uint32_t cell) {
  const uint32_t row = cell & ~(kDivided | kInRow);
  if (--rows_[row].cells == 0) unused_rows_.push_back(row);
}

void Variables::leave_row(uint64_t number, uint32_t& cell) {
  const Row row = row_of(cell);
  Pieces pieces{};
  for (unsigned at = 0; at < 8; at += row.size)
    pieces[at] = {row.variable_at(number * 8 + at), row.size, false};
  drop_from_row(cell);
  cell = make_pieces(pieces);
}

bool Variables::are_even_in_row(uint64_t address, unsigned size, int64_t stride, uint32_t count,
                                uint32_t first, int64_t distance) {
  if (address % size != 0 || stride % size != 0 || distance != stride / size) return false;
  const uint32_t cell = cell_at(address / 8);
  if (!is_row(cell) || row_of(cell).size != size || row_of(cell).variable_at(address) != first) return false;
  const uint64_t last = address + static_cast<uint64_t>(stride) * (count - 1);
  if (stride >= -8 && stride <= 8) {
    const auto [low, high] = std::minmax(address / 8, last / 8);
    return are_same(low, high - low + 1, cell);
  }
  for (uint32_t i = 0; i < count; ++i, address += static_cast<uint64_t>(stride))
    if (cell_at(address / 8) != cell) return false;
  return true;
}

void Variables::end(uint32_t variable, uint32_t count, bool is_part) {
  ++changes_;
  if (ending_.count > 0 && ending_.first + ending_.count == variable && ending_.is_part == is_part) {
    ending_.count += count;
    return;
  }
  end_pending();
  ending_ = {variable, count, is_part};
}

void Variables::end_pending() {
  if (ending_.count > 0) namer_.end_variables(ending_.first, ending_.count, ending_.is_part);
  ending_ = {};
}

void Variables::forget_cell(uint64_t number, uint32_t& cell) {
  if (is_whole(cell)) {
    end(cell - 1, 1, false);
  } else if (is_row(cell)) {
    const Row& row = row_of(cell);
    end(row.variable_at(number * 8), 8 / row.size, false);
    drop_from_row(cell);
  } else if (cell != 0) {
    const uint32_t pieces = cell & ~kDivided;
    for (const Piece& piece : divided_[pieces])
      if (piece.size != 0) end(piece.variable, 1, piece.is_part);
    unused_.push_back(pieces);
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
    for (; cell <= last && cell < line_end; ++cell) forget_cell(cell, cells[cell % kCellsPerLine]);
    if (cells != Line{}) continue;
    near_[line % near_.size()] = {};
    unused_lines_.push_back(found->second);
    lines_.erase(found);
    if (--page.value() == 0) pages_.erase(page);
  }
  end_pending();
}

void Variables::forget_all() {
  for (const auto& [number, line] : lines_)
    for (unsigned i = 0; i < kCellsPerLine; ++i) forget_cell(number * kCellsPerLine + i, stored_[line][i]);
  end_pending();
  lines_.clear();
  pages_.clear();
  stored_.clear();
  unused_lines_.clear();
  near_.assign(kFewNear, {});
}

}  // namespace heddle
