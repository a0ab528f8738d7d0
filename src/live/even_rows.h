// Which memory was found lately to be variables with numbers that lie equally far apart
// (Variables::are_even).
//
// By where it ends: a loop that goes through less of an array each time often ends at the same place, and
// what it has found out of the whole is true of a part.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace heddle {

class EvenRows {
 public:
  // Accesses of so many bytes, from the first to the last.
  struct Accesses {
    uint64_t first = 0;
    uint64_t stride = 0;
    uint32_t count = 0;  // 0: none
    unsigned size = 0;
    uint64_t last() const { return first + (uint64_t{count} - 1) * stride; }
  };
  struct Numbers {
    uint32_t first = 0;
    int64_t distance = 0;
  };

  // `changes`: Variables::changes(). False: it is not known.
  bool find(const Accesses& wanted, uint64_t changes, Numbers& found) const {
    const Row& row = rows_[place_of(wanted)];
    const Accesses& known = row.accesses;
    if (row.changes != changes || known.count < wanted.count || known.size != wanted.size ||
        known.stride != wanted.stride || known.last() != wanted.last())
      return false;
    found = {static_cast<uint32_t>(row.numbers.first + row.numbers.distance * (known.count - wanted.count)),
             row.numbers.distance};
    return true;
  }
  void add(const Accesses& accesses, uint64_t changes, const Numbers& numbers) {
    rows_[place_of(accesses)] = {accesses, changes, numbers};
  }

 private:
  static constexpr std::size_t kRows = 4096;
  struct Row {
    Accesses accesses;
    uint64_t changes = 0;
    Numbers numbers;
  };
  static std::size_t place_of(const Accesses& accesses) {
    return mix(accesses.last() ^ accesses.stride << 48) % kRows;
  }

  std::vector<Row> rows_ = std::vector<Row>(kRows);
};

}  // namespace heddle
