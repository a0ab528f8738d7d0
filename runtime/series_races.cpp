#include "runtime/series_races.h"

#include "runtime/access.h"
#include "runtime/cell.h"
#include "runtime/thread.h"
#include "trace/event.h"

namespace heddle::runtime {

namespace {

// Whether the thread has looked at it in its present stretch, as compiled code asks before it calls.
bool is_looked_at(uint64_t address, uint32_t size, bool writes) {
  if (size != 8 || address % 8 != 0) return false;
  const Cell* const cell = cell_of(reinterpret_cast<const void*>(address));
  if (writes) return cell->write == heddle_thread_state.stamp;
  return cell->read == heddle_thread_state.stamp || cell->read == heddle_thread_state.group;
}

bool writes(const SeriesStep& step) { return step.operation == static_cast<uint8_t>(Operation::kWrite); }

void look_at(const SeriesStep& step, uint64_t address) {
  if (is_looked_at(address, step.size, writes(step))) return;
  access_memory(reinterpret_cast<const void*>(address), step.size | (writes(step) ? kWrites : 0),
                reinterpret_cast<const void*>(step.pc));
}

void look_at_series(const SeriesStep& step, uint64_t address, uint64_t count, uint64_t stride) {
  access_memory_series(address, count, static_cast<int64_t>(stride), step.size | (writes(step) ? kWrites : 0),
                       reinterpret_cast<const void*>(step.pc));
}

// Accesses of a step that lie equally far apart, looked at together as far as they do.
class Row {
 public:
  void add(const SeriesStep& step, uint64_t address, uint64_t count, uint64_t stride) {
    if (count_ == 1 && count == 1) stride_ = address - start_;
    if (count_ > 0 && address == start_ + count_ * stride_ && (count == 1 || stride == stride_)) {
      count_ += count;
      return;
    }
    look(step);
    start_ = address;
    count_ = count;
    stride_ = stride;
  }
  // What it has just looked at it need not look at again: no synchronization comes in between.
  void look(const SeriesStep& step) {
    constexpr uint64_t kFew = 4;
    if (start_ == seen_start_ && stride_ == seen_stride_ && count_ <= seen_count_) return;
    seen_start_ = start_;
    seen_count_ = count_;
    seen_stride_ = stride_;
    if (count_ > kFew) return look_at_series(step, start_, count_, stride_);
    for (uint64_t i = 0; i < count_; ++i) look_at(step, start_ + i * stride_);
  }

 private:
  uint64_t seen_start_ = 0;
  uint64_t seen_count_ = 0;
  uint64_t seen_stride_ = 0;
  uint64_t start_ = 0;
  uint64_t count_ = 0;
  uint64_t stride_ = 0;
};

// Steps that are looked at as the loop goes through their block, put together so that a long path need
// not go through all the others.
class LookedAt {
 public:
  explicit LookedAt(const SeriesPattern& pattern) : pattern_(pattern) {
    uint16_t count = 0;
    for (uint32_t number = 0; number < pattern.blocks; ++number) {
      const SeriesBlock& block = pattern.block()[number];
      begin_[number] = count;
      for (uint32_t i = block.first_step; i < uint32_t{block.first_step} + block.steps; ++i) {
        const SeriesStep& step = pattern.step()[i];
        // Every round goes through its first block: what is in series there is looked at as a whole.
        const bool is_of_rounds = number == 0 && step.address < pattern.in_series;
        if (step.address == kNoOperand || step.is_written || is_of_rounds) continue;
        const SeriesWalk* const walk = walk_of(block, step);
        const bool is_in_row = rows_ < kMostRows && (walk != nullptr || step.address < pattern.in_series);
        steps_[count++] = {&step, walk == nullptr ? 0 : static_cast<uint64_t>(walk->stride),
                           is_in_row ? rows_++ : kNoRow};
      }
    }
    begin_[pattern.blocks] = count;
    for (uint32_t number = 0; number < pattern.blocks; ++number) {
      const SeriesBlock& block = pattern.block()[number];
      if (begin_[number] != begin_[number + 1] || block.changes_addresses())
        to_visit_ |= uint64_t{1} << number;
    }
  }

  // Whether there is anything to do where the loop goes through the block.
  bool has_to_visit(uint32_t number) const { return (to_visit_ >> number & 1) != 0; }

  // The loop goes through the block, again and again if that is an inner loop.
  void look(uint32_t number, uint32_t visits, const SeriesRounds& of, uint64_t round,
            ListedAddresses& listed) {
    const auto address = [&](const SeriesStep& step) {
      return (step.address >= pattern_.in_series
                  ? listed[step.address]
                  : of.series[2 * step.address] + round * of.series[2 * step.address + 1]) +
             static_cast<uint64_t>(int64_t{step.offset});
    };
    listed.enter(number);
    for (uint32_t i = begin_[number]; i < begin_[number + 1]; ++i)
      if (const Step& one = steps_[i]; one.row != kNoRow)
        row_[one.row].add(*one.step, address(*one.step), one.stride == 0 ? 1 : visits, one.stride);
    const SeriesBlock& block = pattern_.block()[number];
    const uint64_t* const lists = visits == 1 ? nullptr : listed.enter_again(number, visits - 1);
    for (uint32_t i = begin_[number]; i < begin_[number + 1]; ++i) {
      const SeriesStep& step = *steps_[i].step;
      if (steps_[i].row != kNoRow) continue;
      const uint32_t of_block = uint32_t{step.address} - block.first_listed;
      if (lists == nullptr || of_block >= block.listed) {
        look_at(step, address(step));  // the same each time
        continue;
      }
      for (uint32_t visit = 0; visit < visits; ++visit)
        look_at(step, lists[visit * block.listed + of_block] + static_cast<uint64_t>(int64_t{step.offset}));
    }
  }
  void look_at_rows() {
    for (uint32_t i = 0; i < begin_[pattern_.blocks]; ++i)
      if (steps_[i].row != kNoRow) row_[steps_[i].row].look(*steps_[i].step);
  }

 private:
  static constexpr uint16_t kMostRows = 32;
  static constexpr uint16_t kNoRow = 0xFFFF;
  struct Step {
    const SeriesStep* step;
    uint64_t stride;  // of a walk of the inner loop that the block is
    uint16_t row;
  };

  // If the block is all of the inner loop that the access goes along with.
  const SeriesWalk* walk_of(const SeriesBlock& block, const SeriesStep& step) const {
    for (uint32_t i = block.first_walk; i < uint32_t{block.first_walk} + block.walks; ++i) {
      const SeriesWalk& walk = pattern_.walk()[i];
      if (walk.address == step.address && (walk.blocks & (walk.blocks - 1)) == 0) return &walk;
    }
    return nullptr;
  }

  const SeriesPattern& pattern_;
  Step steps_[kMostSteps];
  uint16_t begin_[kMostBlocks + 1];
  uint64_t to_visit_ = 0;  // blocks, a bit each
  Row row_[kMostRows];
  uint16_t rows_ = 0;
};

}  // namespace

void look_for_races(const SeriesPattern& pattern, const SeriesRounds& of, uint32_t rounds,
                    uint32_t addresses) {
  if (heddle_thread_state.thread == nullptr) return;
  const SeriesBlock& first = pattern.block()[0];
  // None: what is told goes on within a round.
  for (uint32_t i = first.first_step; rounds > 0 && i < uint32_t{first.first_step} + first.steps; ++i) {
    const SeriesStep& step = pattern.step()[i];
    if (step.address >= pattern.in_series || step.is_written) continue;
    look_at_series(step, of.series[2 * step.address] + static_cast<uint64_t>(int64_t{step.offset}), rounds,
                   of.series[2 * step.address + 1]);
  }
  if (pattern.blocks == 1 && pattern.listed == 0) return;
  // They may lie anywhere: their states are on their way while the first ones are looked at.
  for (uint32_t i = 0; i < addresses; ++i)
    __builtin_prefetch(cell_of(reinterpret_cast<const void*>(of.addresses[i])));
  LookedAt steps(pattern);
  ListedAddresses listed(pattern, of, addresses);
  uint64_t round = ~uint64_t{0};
  const uint32_t all = pattern.blocks == 1 ? of.rounds : of.path_size;
  for (uint32_t visit = 0; visit < all;) {
    const uint32_t number = pattern.blocks == 1 ? 0 : of.path[visit];
    if (number == 0) ++round;
    if (!steps.has_to_visit(number)) {
      listed.pass(number);
      ++visit;
      continue;
    }
    uint32_t visits = 1;
    while (number != 0 && visit + visits < all && of.path[visit + visits] == number) ++visits;
    steps.look(number, visits, of, round, listed);
    visit += visits;
  }
  steps.look_at_rows();
}

}  // namespace heddle::runtime
