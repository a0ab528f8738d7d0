// The code that synthetic workers seem to run: named blocks whose statements are the same at every execution,
// each on a source line of its own. Only the data they touch differs from one execution to the next.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "trace/synthetic/shape.h"

namespace heddle::synthetic {

// Variables behind locks: the k-th of them belongs to lock k mod `locks`.
struct Guarded {
  Range variables;
  uint32_t locks = 1;

  uint32_t pick(uint32_t lock, Random& random) const {
    return variables.first + lock + locks * random.below(variables.count / locks);
  }
};

struct Block {
  uint32_t name = kNoId;  // in Space::kBlock
  SiteId site = kNoId;    // its first line
  uint32_t locks = 0;     // how many it takes where it locks
  uint32_t accesses = 0;
  uint64_t writes = 0;  // bit i mod 64: access i is a write

  Operation access(uint32_t number) const {
    return (writes >> number % 64 & 1) != 0 ? Operation::kWrite : Operation::kRead;
  }

  // Takes neighbouring locks in ascending order, touches under each what it guards, gives them back at the
  // end: locked_length() events.
  void add_locked(Script& script, const Guarded& data, Random& random) const;
  uint64_t locked_length(const Guarded& data) const { return 2 * locks_of(data) + accesses; }

  // Touches `data`, which needs no lock: `accesses` events.
  void add_unlocked(Script& script, Range data, Random& random) const;
  // The same without writing.
  void add_reads(Script& script, Range data, Random& random) const;

 private:
  uint32_t locks_of(const Guarded& data) const { return std::min(locks, data.locks); }
};

// An execution of a block that takes locks has at most this many events.
uint64_t longest_block(const SyntheticOptions& options);

class Code {
 public:
  Code(const SyntheticOptions& options, Random& random, Names& names);

  // One of the blocks that all workers run.
  const Block& pick(Random& random) const { return blocks_[random.below(kBlocks)]; }
  // Another block, for one purpose.
  Block add_block(std::string_view name, uint32_t accesses, Random& random, Names& names);

 private:
  static constexpr uint32_t kBlocks = 16;

  uint32_t next_line_ = 101;  // of the source file the blocks seem to stand in
  std::array<Block, kBlocks> blocks_;
};

}  // namespace heddle::synthetic
