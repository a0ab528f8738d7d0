// D2 (S3 §5.1): for a read, from each task its last write of the location before the read and its first one
// after it.
//
// All reads between two writes of a location are alike, so what is asked for is a *gap*. The write with
// number i of a location, whose task wrote it before as number p and next as number q, belongs to the gaps p
// + 1 to q: an interval around its own place. So a gap's writes are the intervals that it lies in, and since
// a write found once need not be found again, each is given out once. Cost: of a gap, the logarithm of the
// writes of its location; of a write, a constant. Memory: 4 bytes a node, 12 a write, and some 24 where a
// location has many.
#pragma once

#include <cstdint>
#include <vector>

#include "checkers/sequential_spec/grouped.h"
#include "checkers/sequential_spec/history.h"

namespace heddle::sequential_spec {

class NearestWrites {
 public:
  explicit NearestWrites(const History& history);

  // Appends to `found` the writes nearest to this read in their tasks, but for those given out before.
  void find(NodeId read, std::vector<NodeId>& found);

 private:
  // A location with so few writes is looked through.
  static constexpr uint32_t kFew = 24;

  // The intervals of one location. One from `low` to `high` is kept at its centre, the number in it that is
  // divisible by the highest power of two; to look for the intervals around a gap is to visit one centre for
  // each power of two. Numbers are doubled gaps, so that no interval is a single number.
  struct Tree {
    std::vector<uint32_t> begin;      // by centre: of its intervals in both lists
    std::vector<uint32_t> by_low;     // writes, ascending by their lows
    std::vector<uint32_t> by_high;    // writes, descending by their highs
    std::vector<uint32_t> low_next;   // by centre: the first of by_low that may not be given out yet
    std::vector<uint32_t> high_next;  // of by_high
  };

  void open(uint32_t location);
  Tree plant(uint32_t location) const;
  void give(uint32_t write, std::vector<NodeId>& found);
  void search(Tree& tree, uint32_t gap, std::vector<NodeId>& found);

  const History& history_;
  Grouped<> writes_;               // nodes by location
  std::vector<uint32_t> gap_;      // by node: of a read, the writes of its location before it
  std::vector<uint32_t> low_;      // by write: the first gap it belongs to
  std::vector<uint32_t> high_;     // the last one
  std::vector<bool> given_;        // by write
  std::vector<bool> asked_;        // by gap; those of a location begin at writes_.begin(location) + location
  std::vector<bool> is_open_;      // by location: low_ and high_ are there
  std::vector<uint32_t> tree_of_;  // by location, in trees_; kNoId: none
  std::vector<Tree> trees_;
  std::vector<uint32_t> last_write_;  // by task, while a location is opened: its last write …
  std::vector<uint32_t> last_place_;  // … in this location
};

}  // namespace heddle::sequential_spec
