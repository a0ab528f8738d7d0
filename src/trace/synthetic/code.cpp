#include "trace/synthetic/code.h"

#include <fmt/format.h>

namespace heddle::synthetic {

namespace {

constexpr uint32_t kMostLocks = 3;  // of one block

// Lines a block has beside its accesses: begin, end, locks, messages.
constexpr uint32_t kOtherLines = 20;

}  // namespace

void Block::add_locked(Script& script, const Guarded& data, Random& random) const {
  const uint32_t count = locks_of(data);
  const uint32_t first = random.below(data.locks - count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t lock = first + i;
    script.add(Operation::kAcquire, lock);
    for (uint32_t number = accesses * i / count; number < accesses * (i + 1) / count; ++number)
      script.add(access(number), data.pick(lock, random));
  }
  for (uint32_t i = count; i-- > 0;) script.add(Operation::kRelease, first + i);
}

void Block::add_unlocked(Script& script, Range data, Random& random) const {
  for (uint32_t number = 0; number < accesses; ++number) script.add(access(number), data.pick(random));
}

void Block::add_reads(Script& script, Range data, Random& random) const {
  for (uint32_t number = 0; number < accesses; ++number) script.add(Operation::kRead, data.pick(random));
}

uint64_t longest_block(const SyntheticOptions& options) {
  return 2 + 2 * kMostLocks + 2 * uint64_t{options.block_length};  // see Random::around
}

Code::Code(const SyntheticOptions& options, Random& random, Names& names) {
  for (uint32_t i = 0; i < kBlocks; ++i) {
    blocks_[i] = add_block(fmt::format("f{}", i), random.around(options.block_length), random, names);
    blocks_[i].locks = 1 + i % kMostLocks;
  }
}

Block Code::add_block(std::string_view name, uint32_t accesses, Random& random, Names& names) {
  Block block;
  block.name = names.table(Space::kBlock).intern(name);
  block.accesses = accesses;
  block.writes = random.next() & random.next();  // one access in four
  block.site = names.sites().size();
  for (uint32_t i = 0; i < accesses + kOtherLines; ++i)
    names.intern_site(fmt::format("gen.cpp:{}", next_line_++));
  return block;
}

}  // namespace heddle::synthetic
