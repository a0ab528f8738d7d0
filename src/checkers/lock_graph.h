// Which locks lie on a common cycle of the relation "was held while the other was taken".
//
// Most programs take their locks in one order, and then every component is a single lock and an edge costs
// O(1): components are kept in a topological order that is repaired locally when a new edge goes against it
// (Pearce & Kelly, JEA 2006), and merged when the edge closes a cycle.
#pragma once

#include <tsl/robin_set.h>

#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace heddle {

class LockGraph {
 public:
  // `held` was held while `taken` was taken.
  void add(uint32_t held, uint32_t taken);
  // Whether there is a cycle through both; a lock is with itself.
  bool on_one_cycle(uint32_t a, uint32_t b) { return a == b || find(a) == find(b); }

 private:
  // A strongly connected component, stored at the lock that stands for it.
  struct Component {
    uint32_t parent = 0;           // union-find; itself: it stands for the component
    uint64_t position = 0;         // in the topological order; unique, with gaps
    std::vector<uint32_t> after;   // locks of components an edge leads to
    std::vector<uint32_t> before;  // locks of components an edge comes from
    uint8_t marks = 0;             // of the repair in progress: kAfter, kBefore
  };

  uint32_t find(uint32_t lock);
  void repair(uint32_t from, uint32_t to);
  void reach(uint32_t start, uint8_t mark, uint64_t limit, std::vector<uint32_t>& reached);
  uint32_t merge(const std::vector<uint32_t>& cycle);

  std::vector<Component> components_;        // by lock
  tsl::robin_set<uint64_t, MixHash> edges_;  // (held, taken) seen
};

}  // namespace heddle
