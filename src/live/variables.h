// The pieces of a program's memory that its accesses tell apart, as variables of a trace.
//
// Every 8 bytes that were accessed are one piece or divided into several. An access to just one piece is an
// access to that variable; to several, one to each; to a part of one, divides it. Memory that begins a new
// life has no pieces. A large array of small elements is a *row*, so that an element takes less room than it
// has itself.
#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/hash.h"

namespace heddle {

class Variables {
 public:
  // Names variables: their numbers are its own.
  class Namer {
   public:
    virtual ~Namer() = default;
    // A part of what was one variable is none that ever was another.
    virtual uint32_t begin_variable(uint64_t address, bool is_part) = 0;
    // What was one is now several. The parts have just begun.
    virtual void divide_variable(uint32_t whole, std::span<const uint32_t> parts) = 0;
    // Several with numbers in a row.
    virtual void end_variables(uint32_t first, uint32_t count, bool is_part) = 0;
    // Variables of `size` bytes, one behind the other: the number of the first, if they have numbers in a
    // row. kNone: they have to begin one by one.
    virtual uint32_t begin_row(uint64_t address, unsigned size, uint32_t count) = 0;
  };
  explicit Variables(Namer& namer) : namer_(namer) {}

  // Calls `visit(variable)` for each piece of the memory.
  template <class Visit>
  void access(uint64_t address, uint64_t size, Visit visit) {
    for (const uint64_t end = address + size; address < end;) {
      const auto first = static_cast<unsigned>(address % 8);
      const auto here = static_cast<unsigned>(std::min<uint64_t>(8 - first, end - address));
      uint32_t& cell = cell_at(address / 8);
      if (here == 8 && is_whole(cell)) {
        visit(cell - 1);
      } else {
        if (!is_in_row(cell, first, here)) divide(address / 8, cell, first, here);
        if (is_whole(cell)) {
          visit(cell - 1);
        } else if (is_row(cell)) {
          const Row& row = row_of(cell);
          for (unsigned at = 0; at < here; at += row.size) visit(row.variable_at(address + at));
        } else {
          const Pieces& pieces = divided_[cell & ~kDivided];
          for (unsigned at = first; at < first + here; at += pieces[at].size) visit(pieces[at].variable);
        }
      }
      address += here;
    }
  }

  // Calls `visit(address, size, variable)` for each piece that lies in the memory, by address, and none where
  // it was not accessed yet.
  template <class Visit>
  void for_each_known(uint64_t address, uint64_t size, Visit visit) const;

  // The one variable that the memory is; kNone: it may be several.
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  uint32_t whole(uint64_t address, uint64_t size) {
    if (const uint32_t known = known_whole(address, size); known != kNone) return known;
    uint32_t found = kNone;
    uint32_t count = 0;
    access(address, size, [&](uint32_t variable) {
      found = variable;
      ++count;
    });
    return count == 1 ? found : kNone;
  }

  // The same, of what was accessed before; kNone: it may have to be asked for.
  uint32_t known_whole(uint64_t address, uint64_t size) {
    const uint32_t cell = cell_at(address / 8);
    const uint64_t first = address % 8;
    if (is_whole(cell)) return size == 8 && first == 0 ? cell - 1 : kNone;
    if (cell == 0) return kNone;
    if (is_row(cell))
      return row_of(cell).size == size && first % size == 0 ? row_of(cell).variable_at(address) : kNone;
    const Piece& piece = divided_[cell & ~kDivided][first];
    return piece.size == size ? piece.variable : kNone;
  }

  // Makes variables of `size` bytes of the memory, which is about to be accessed in such pieces, if they can
  // have numbers in a row: as far as nothing of it was accessed yet, and without what is at its edges.
  void begin_row(uint64_t address, unsigned size, uint64_t count);

  // Whether the memory is variables of `size` bytes, each `distance` after the one before, from the first on.
  bool are_even(uint64_t address, unsigned size, uint64_t stride, uint32_t count, uint32_t first,
                int64_t distance) {
    if (size != 8)
      return are_even_in_row(address, size, static_cast<int64_t>(stride), count, first, distance);
    if ((address | stride) % 8 != 0) return false;
    if (stride == 8 && distance == 1) return are_in_row(address / 8, count, first + 1);
    auto expected = static_cast<uint32_t>(first + 1);
    for (; count > 0; --count, address += stride, expected += static_cast<uint32_t>(distance))
      if (cell_at(address / 8) != expected) return false;
    return true;
  }

  // How often a variable has ended or come apart: as long as none does, an address has the same one.
  uint64_t changes() const { return changes_; }

  // The memory begins a new life.
  void forget(uint64_t address, uint64_t size);
  // All memory does.
  void forget_all();

 private:
  struct Piece {
    uint32_t variable;
    uint8_t size;  // in bytes; 0: no piece begins here
    bool is_part;  // of what was one variable before
  };
  using Pieces = std::array<Piece, 8>;  // by their first byte
  // Cells that lie in a row, of pieces of one size, with numbers in a row.
  struct Row {
    uint64_t begin;
    uint32_t variable;   // the first
    uint32_t cells = 0;  // that are still in it
    uint8_t size;        // of a piece: 1, 2 or 4
    uint32_t variable_at(uint64_t address) const {
      return variable + static_cast<uint32_t>((address - begin) / size);
    }
  };
  // For each 8 bytes: 0 for none, the variable plus 1 that all of them are, or kDivided and the number of
  // their pieces, or kDivided, kInRow and that of their row.
  static constexpr unsigned kCellsPerLine = 64;
  using Line = std::array<uint32_t, kCellsPerLine>;
  static constexpr uint32_t kDivided = uint32_t{1} << 31;
  static constexpr uint32_t kInRow = uint32_t{1} << 30;
  static constexpr unsigned kLinesPerPageBits = 3;  // pages of 4 KiB

  static constexpr std::size_t kFewNear = 1U << 12;
  static constexpr std::size_t kMostNear = 1U << 18;

  static bool is_whole(uint32_t cell) { return cell != 0 && (cell & kDivided) == 0; }
  static bool is_row(uint32_t cell) { return (cell & (kDivided | kInRow)) == (kDivided | kInRow); }
  const Row& row_of(uint32_t cell) const { return rows_[cell & ~(kDivided | kInRow)]; }
  // Whether the bytes are whole pieces of the row that the cell is in.
  bool is_in_row(uint32_t cell, unsigned first, unsigned size) const {
    return is_row(cell) && (first | size) % row_of(cell).size == 0;
  }
  // Valid until the next call.
  uint32_t& cell_at(uint64_t number) {
    const uint64_t line = number / kCellsPerLine;
    if (const Near& near = near_[line % near_.size()]; line == near.number)
      return (*near.line)[number % kCellsPerLine];
    Line& found = find_line(line);  // may make room for more of them
    near_[line % near_.size()] = {line, &found};
    return found[number % kCellsPerLine];
  }
  // Whether the cells from `number` on are `expected` and what comes after it.
  bool are_in_row(uint64_t number, uint64_t count, uint32_t expected) {
    while (count > 0) {
      const uint64_t here = std::min<uint64_t>(count, kCellsPerLine - number % kCellsPerLine);
      const uint32_t* const cells = &cell_at(number);
      uint32_t different = 0;
      for (uint64_t i = 0; i < here; ++i) different |= cells[i] ^ (expected + static_cast<uint32_t>(i));
      if (different != 0) return false;
      number += here;
      count -= here;
      expected += static_cast<uint32_t>(here);
    }
    return true;
  }
  // Whether the cells from `number` on are all the same.
  bool are_same(uint64_t number, uint64_t count, uint32_t expected) {
    while (count > 0) {
      const uint64_t here = std::min<uint64_t>(count, kCellsPerLine - number % kCellsPerLine);
      const uint32_t* const cells = &cell_at(number);
      uint32_t different = 0;
      for (uint64_t i = 0; i < here; ++i) different |= cells[i] ^ expected;
      if (different != 0) return false;
      number += here;
      count -= here;
    }
    return true;
  }
  bool are_even_in_row(uint64_t address, unsigned size, int64_t stride, uint32_t count, uint32_t first,
                       int64_t distance);
  // How many cells from one on, fewer than the limit, were never accessed.
  uint64_t count_untouched(uint64_t number, uint64_t limit);
  // Of cells from one on, which nobody accessed yet.
  uint32_t make_row(uint64_t number, unsigned size, uint64_t cells, uint32_t variable);
  // The cell's pieces, one by one.
  void leave_row(uint64_t number, uint32_t& cell);
  void drop_from_row(uint32_t cell);
  Line& find_line(uint64_t number);
  // Makes the bytes a whole number of pieces.
  void divide(uint64_t number, uint32_t& cell, unsigned first, unsigned size);
  uint32_t make_pieces(const Pieces& pieces);
  // Divides the piece that begins at byte `at` where the bytes from `first` to `end` begin and end in it.
  void divide_piece(uint64_t number, Pieces& pieces, unsigned at, unsigned first, unsigned end);
  void forget_cell(uint64_t number, uint32_t& cell);
  // Ends variables, together with others that have numbers in a row.
  void end(uint32_t variable, uint32_t count, bool is_part);
  void end_pending();

  Namer& namer_;
  uint64_t changes_ = 0;
  tsl::robin_map<uint64_t, uint32_t, MixHash> lines_;  // by address / 64, in stored_
  tsl::robin_map<uint64_t, uint32_t, MixHash> pages_;  // lines in each
  std::deque<Line> stored_;                            // where they stay
  std::vector<uint32_t> unused_lines_;                 // of stored_; empty
  struct Near {
    uint64_t number = ~uint64_t{0};
    Line* line = nullptr;
  };
  // Lines found lately, so that most need not be looked up: a power of two, and more where there are many
  // lines.
  std::vector<Near> near_ = std::vector<Near>(kFewNear);
  std::vector<Pieces> divided_;
  std::vector<uint32_t> unused_;  // of divided_
  std::vector<Row> rows_;
  std::vector<uint32_t> unused_rows_;
  struct Ending {
    uint32_t first = 0;
    uint32_t count = 0;
    bool is_part = false;
  } ending_;  // not told yet
};

template <class Visit>
void Variables::for_each_known(uint64_t address, uint64_t size, Visit visit) const {
  const uint64_t end = address + size;
  for (uint64_t number = address / 8; number * 8 < end;) {
    const auto found = lines_.find(number / kCellsPerLine);
    if (found == lines_.end()) {
      number = (number / kCellsPerLine + 1) * kCellsPerLine;
      continue;
    }
    const uint32_t cell = stored_[found->second][number % kCellsPerLine];
    if (is_whole(cell)) {
      visit(number * 8, 8, cell - 1);
    } else if (is_row(cell)) {
      const Row& row = row_of(cell);
      for (uint64_t at = number * 8; at < number * 8 + 8; at += row.size)
        visit(at, row.size, row.variable_at(at));
    } else if (cell != 0) {
      const Pieces& pieces = divided_[cell & ~kDivided];
      for (unsigned at = 0; at < 8; ++at)
        if (pieces[at].size != 0) visit(number * 8 + at, pieces[at].size, pieces[at].variable);
    }
    ++number;
  }
}

}  // namespace heddle
