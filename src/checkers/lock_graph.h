// Which locks lie on a common cycle of the relation "was held while the other was taken".
//
// Every component of mutually reachable locks has a level, and no edge leads to a lower one. An edge to a
// higher level closes no cycle. For any other edge the search goes backward from its tail, on the tail's
// level only and for at most √m steps (m edges so far); if that does not decide, the head is raised above
// that level together with what it reaches (Bender, Fineman, Gilbert & Tarjan, TALG 2015, §2). A level is
// only left when it has √m edges, so there are few levels, and m edges in any order cost O(m √m) steps in
// all; where locks are taken in one order an edge mostly costs O(1).
#pragma once

#include <tsl/robin_set.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace heddle {

class LockGraph {
 public:
  // `held` was held while `taken` was taken.
  void add(uint32_t held, uint32_t taken);
  // Whether there is a cycle through both; a lock is with itself.
  bool on_one_cycle(uint32_t a, uint32_t b) { return a == b || find(a) == find(b); }

  uint64_t steps() const { return steps_; }  // edges looked at so far, by which tests measure the cost

 private:
  // A strongly connected component, stored at the lock that stands for it.
  struct Component {
    uint32_t parent = 0;           // union-find; itself: it stands for the component
    uint32_t level = 0;            // at most that of any component an edge leads to
    std::vector<uint32_t> after;   // locks of components an edge leads to
    std::vector<uint32_t> before;  // locks of components of the same level an edge comes from
    uint8_t marks = 0;             // of the search in progress
  };

  uint32_t find(uint32_t lock);
  bool search_back(uint32_t start, uint64_t limit);
  void raise(uint32_t start, uint32_t level);
  std::vector<uint32_t> between(uint32_t from, uint32_t to);
  uint32_t merge(const std::vector<uint32_t>& cycle);
  void forget_search();

  std::vector<Component> components_;        // by lock
  tsl::robin_set<uint64_t, MixHash> edges_;  // (held, taken) seen
  uint64_t patience_ = 1;                    // √m, how many edges a search may look at before it gives up
  uint64_t steps_ = 0;

  // The latest search_back: components reached, and the edges it went along.
  std::vector<uint32_t> reached_;
  std::vector<std::pair<uint32_t, uint32_t>> passed_;  // (before, after)
};

}  // namespace heddle
