// A loop's rounds, told as one (docs/design/dataflow.md).
//
// What the rounds of a loop without calls do is known when it is compiled: which reads, writes,
// assignments and branches, in which order, with which labels. So the plug-in writes it down once, as a
// *pattern*, and at run time only what differs is kept: where the series of addresses begin and how far
// their elements lie apart, addresses that are no such series, and, if the loop has several blocks, through
// which of them it went. When the loop is left, that goes to the monitor; what would be thousands of events
// is a handful of records. The recording has it in the same form (src/trace/series.h).
//
// This is for plug-in, runtime and monitor.
#pragma once

#include <cstdint>

namespace heddle::runtime {

// A pattern's operands are numbered: first labels of values from outside the loop, then its own labels.
inline constexpr uint16_t kNoOperand = 0xFFFF;
inline constexpr uint16_t kFromOutside = 0xFFFF;  // the block that comes before the first
inline constexpr uint32_t kMostSources = 6;
inline constexpr uint32_t kMostBlocks = 64;
inline constexpr uint32_t kMostSteps = 1024;
inline constexpr uint32_t kMostListed = 64;  // addresses of a round that are in no series

struct SeriesStep {
  uint64_t name;      // of an access: the text that the source calls the memory by; 0: none
  uint64_t pc;        // filled in when the program starts
  int32_t offset;     // of the access, from its address
  uint16_t address;   // of the pattern's: first those in series, then those that are listed; kNoOperand: none
  uint8_t operation;  // of trace/event.h
  uint8_t size;
  uint16_t
      target;  // read to, written from, assigned or branched on; kNoOperand: a write of what has no label
  uint16_t sources : 15;    // of an assignment
  uint16_t is_written : 1;  // of a read: the same memory is written in the same block
  uint16_t source[kMostSources];
};
static_assert(sizeof(SeriesStep) == 40);

// What phis become where a block is entered from another.
struct SeriesEdge {
  uint16_t from;
  uint16_t first_step;
  uint16_t steps;
  uint16_t unused;
};

struct SeriesBlock {
  uint16_t first_step;
  uint16_t steps;
  uint16_t first_edge;
  uint16_t edges;
  uint16_t first_listed;  // address that is listed each time the loop goes through the block
  uint16_t listed;
  uint16_t first_walk;  // of those that go on where a round of an inner loop begins, which is in this block
  uint16_t walks;

  // Whether to go through it changes what the listed addresses are.
  bool changes_addresses() const { return listed != 0 || walks != 0; }
};

// An address that is listed where an inner loop is entered and goes on in equal steps with its rounds.
struct SeriesWalk {
  uint64_t blocks;   // of the inner loop, a bit each
  int64_t stride;    // from round to round
  uint64_t address;  // one that is listed
};
static_assert(kMostBlocks <= 64);

// Then come its walks, steps, edges and blocks; the first block is where each round begins. Walks are in the
// order of the blocks that they go on in.
struct SeriesPattern {
  uint32_t told;   // where it lies in the channel's texts; 0: nowhere yet
  uint32_t bytes;  // of all
  uint16_t steps;
  uint16_t edges;
  uint16_t blocks;
  uint16_t in_series;  // addresses
  uint16_t listed;     // addresses
  uint16_t labels;     // its own
  uint16_t inputs;
  uint16_t walks : 14;
  uint16_t writes : 1;        // at least one step does
  uint16_t keeps_labels : 1;  // somebody behind the loop needs them

  const SeriesWalk* walk() const { return reinterpret_cast<const SeriesWalk*>(this + 1); }
  const SeriesStep* step() const { return reinterpret_cast<const SeriesStep*>(walk() + walks); }
  const SeriesEdge* edge() const { return reinterpret_cast<const SeriesEdge*>(step() + steps); }
  const SeriesBlock* block() const { return reinterpret_cast<const SeriesBlock*>(edge() + edges); }
};
static_assert(sizeof(SeriesPattern) == 24);

// Some rounds of it. A pattern of one block has no path.
struct SeriesRounds {
  uint32_t rounds;
  uint16_t previous;  // block; kFromOutside: these are the loop's first rounds
  uint32_t path_size;
  const uint8_t* path;        // blocks
  const uint64_t* series;     // for each address in series: the first, and how far the next is away
  const uint64_t* addresses;  // listed
};

// The listed addresses as they are when a path comes through a block.
class ListedAddresses {
 public:
  ListedAddresses(const SeriesPattern& pattern, const SeriesRounds& of, uint32_t addresses)
      : pattern_(pattern), next_(of.addresses), left_(addresses), previous_(of.previous) {
    // Rounds of inner loops that were told in part go on where they were.
    for (uint32_t i = 0; i < pattern.walks; ++i)
      if (is_inside(pattern.walk()[i])) is_good_ &= take(static_cast<uint32_t>(pattern.walk()[i].address));
  }

  // False: there are fewer than there should be.
  [[gnu::always_inline]] bool enter(uint32_t number) {
    const SeriesBlock& block = pattern_.block()[number];
    if (block.changes_addresses()) take_for(block);
    previous_ = static_cast<uint16_t>(number);
    return is_good_;
  }
  // The same of a block that changes no addresses.
  [[gnu::always_inline]] void pass(uint32_t number) { previous_ = static_cast<uint16_t>(number); }
  // So many times more, one after the other: it is an inner loop by itself. What each time lists, from the
  // time before on. Null: there are fewer.
  const uint64_t* enter_again(uint32_t number, uint32_t times) {
    const SeriesBlock& block = pattern_.block()[number];
    for (uint32_t i = block.first_walk; i < uint32_t{block.first_walk} + block.walks; ++i) {
      const SeriesWalk& walk = pattern_.walk()[i];
      if (is_inside(walk))
        listed_[walk.address - pattern_.in_series] += static_cast<uint64_t>(walk.stride) * times;
    }
    const uint64_t* const before = next_ - block.listed;
    if (left_ < uint64_t{block.listed} * times) {
      is_good_ = false;
      return nullptr;
    }
    next_ += uint64_t{block.listed} * times;
    left_ -= block.listed * times;
    for (uint32_t a = 0; a < block.listed; ++a)
      listed_[block.first_listed - pattern_.in_series + a] = *(next_ - block.listed + a);
    return before;
  }
  uint64_t operator[](uint16_t address) const { return listed_[address - pattern_.in_series]; }
  uint16_t previous() const { return previous_; }
  bool are_all_used() const { return is_good_ && left_ == 0; }

 private:
  bool is_inside(const SeriesWalk& walk) const {
    return previous_ < kMostBlocks && (walk.blocks >> previous_ & 1) != 0;
  }
  void take_for(const SeriesBlock& block) {
    for (uint32_t i = block.first_walk; i < uint32_t{block.first_walk} + block.walks; ++i) {
      const SeriesWalk& walk = pattern_.walk()[i];
      if (is_inside(walk)) listed_[walk.address - pattern_.in_series] += static_cast<uint64_t>(walk.stride);
    }
    for (uint32_t a = block.first_listed; a < uint32_t{block.first_listed} + block.listed; ++a)
      is_good_ &= take(a);
  }
  bool take(uint32_t address) {
    if (left_ == 0) return false;
    --left_;
    listed_[address - pattern_.in_series] = *next_++;
    return true;
  }

  const SeriesPattern& pattern_;
  const uint64_t* next_;
  uint32_t left_;
  uint16_t previous_;  // block
  bool is_good_ = true;
  uint64_t listed_[kMostListed] = {};
};

// Calls `visit(step, index, address)` for every step in order. False: what is told does not fit together.
template <class Visit>
bool for_each_step(const SeriesPattern& pattern, const SeriesRounds& of, uint32_t addresses, Visit visit) {
  const bool has_path = pattern.blocks > 1;
  const uint32_t count = has_path ? of.path_size : of.rounds;
  uint64_t round = ~uint64_t{0};
  ListedAddresses listed(pattern, of, addresses);
  const auto steps = [&](uint32_t first, uint32_t number) {
    for (uint32_t i = first; i < first + number; ++i) {
      const SeriesStep& step = pattern.step()[i];
      uint64_t address = 0;
      if (step.address < pattern.in_series) {
        address = of.series[2 * step.address] + round * of.series[2 * step.address + 1];
      } else if (step.address != kNoOperand) {
        address = listed[step.address];
      }
      visit(step, i, address + static_cast<uint64_t>(int64_t{step.offset}));
    }
  };
  for (uint32_t i = 0; i < count; ++i) {
    const uint16_t number = has_path ? of.path[i] : 0;
    if (number >= pattern.blocks) return false;
    const SeriesBlock& block = pattern.block()[number];
    if (number == 0) ++round;
    for (uint32_t e = block.first_edge; e < uint32_t{block.first_edge} + block.edges; ++e)
      if (pattern.edge()[e].from == listed.previous())
        steps(pattern.edge()[e].first_step, pattern.edge()[e].steps);
    if (!listed.enter(number)) return false;
    steps(block.first_step, block.steps);
  }
  return listed.are_all_used();
}

inline constexpr uint32_t kMostPath = 4096;       // bytes kept
inline constexpr uint32_t kMostAddresses = 1024;  // listed
inline constexpr uint32_t kMostAtOnce = 65536;    // events of one series, where it can be divided

}  // namespace heddle::runtime

extern "C" {

// What a loop keeps of its rounds.
struct HeddleSeriesBuffer {
  uint64_t addresses[heddle::runtime::kMostAddresses];
  uint8_t path[heddle::runtime::kMostPath];
};
extern __thread HeddleSeriesBuffer heddle_series_buffer __attribute__((tls_model("initial-exec")));

// In the frame of the function with the loop. Then come the addresses in series, as SeriesRounds has them for
// the loop's first round, and the labels of the inputs.
struct HeddleSeriesRun {
  heddle::runtime::SeriesPattern* pattern;
  uint64_t label;     // the first of its own; 0: nothing is told
  uint64_t previous;  // block
  uint64_t round;     // the first that was not told
  uint64_t rounds;    // since, if it has no path
  uint64_t path;      // bytes of it
  uint64_t addresses;
};

}  // extern "C"
