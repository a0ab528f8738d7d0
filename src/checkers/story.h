// What an engine remembers about why one transaction comes before another: how far back the reason goes (the
// clock engine, Since) or the operations behind it (the graph engine, Told).
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "core/blocks.h"
#include "core/lockset.h"
#include "trace/event.h"

namespace heddle {

// Where an operation stands: shared by all operations of a thread between two changes.
struct Surroundings {
  std::vector<Block> blocks;       // that its thread is in, innermost first
  LocksetId held = kEmptyLockset;  // by its thread
};

// An operation of the trace.
struct Op {
  EventIndex index = 0;
  Event event;
  std::shared_ptr<const Surroundings> around;  // null for the clock engine
};

// Two conflicting operations of different transactions (or of different threads): the first comes before the
// second.
struct Hop {
  Op from;
  Op to;
};

// The first event of all transactions on the way. Whoever reads the trace again from there sees the whole
// argument.
struct Since {
  static constexpr bool kTold = false;

  EventIndex first = std::numeric_limits<EventIndex>::max();

  Since then(Since next) const { return {std::min(first, next.first)}; }
  static bool better_than(Since) { return false; }
};

// A chain of hops. Where one hop ends and the next begins, both operations belong to one transaction, or to
// one thread.
class Told {
 public:
  static constexpr bool kTold = true;
  // More hops are not kept: nobody reads an argument of that length, and memory stays bounded.
  static constexpr std::size_t kMostHops = 16;

  Told() = default;
  static Told of(const Op& from, const Op& to);

  // This chain, and then the other.
  Told then(const Told& next) const;
  // Whether people would rather read this one: fewer hops, then fewer that are mere locking.
  bool better_than(const Told& other) const;

  const std::vector<Hop>& hops() const;
  std::size_t left_out() const { return left_out_; }  // hops missing in the middle
  bool is_empty() const { return hops_ == nullptr; }

 private:
  std::shared_ptr<const std::vector<Hop>> hops_;  // null: none
  std::size_t left_out_ = 0;
};

}  // namespace heddle
