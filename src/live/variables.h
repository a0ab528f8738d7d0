// The pieces of a program's memory that its accesses tell apart, as variables of a trace.
//
// Every 8 bytes that were accessed are divided into pieces. An access to just one piece is an access to that
// variable; to several, one to each; to a part of one, divides it. Memory that begins a new life has no
// pieces.
#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <cstdint>
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
    virtual void end_variable(uint32_t variable, bool is_part) = 0;
  };
  explicit Variables(Namer& namer) : namer_(namer) {}

  // Calls `visit(variable)` for each piece of the memory.
  template <class Visit>
  void access(uint64_t address, uint64_t size, Visit visit) {
    for (const uint64_t end = address + size; address < end;) {
      const auto first = static_cast<unsigned>(address % 8);
      const auto here = static_cast<unsigned>(std::min<uint64_t>(8 - first, end - address));
      Cell& cell = divide(address / 8, first, here);
      for (unsigned at = first; at < first + here; at += cell.piece[at].size) visit(cell.piece[at].variable);
      address += here;
    }
  }

  // The memory begins a new life.
  void forget(uint64_t address, uint64_t size);

 private:
  struct Piece {
    uint32_t variable;
    uint8_t size;  // in bytes; 0: no piece begins here
    bool is_part;  // of what was one variable before
  };
  struct Cell {
    std::array<Piece, 8> piece;  // by its first byte
  };
  static constexpr unsigned kCellsPerPageBits = 9;  // pages of 4 KiB

  // Makes the bytes a whole number of pieces.
  Cell& divide(uint64_t cell, unsigned first, unsigned size);
  // Divides the piece that begins at byte `at` where the bytes from `first` to `end` begin and end in it.
  void divide_piece(uint64_t number, Cell& cell, unsigned at, unsigned first, unsigned end);
  void forget_cell(uint64_t number);

  Namer& namer_;
  tsl::robin_map<uint64_t, Cell, MixHash> cells_;      // by address / 8
  tsl::robin_map<uint64_t, uint32_t, MixHash> pages_;  // cells in each
};

}  // namespace heddle
