// Looks for a cycle in one strongly connected part of the conflict graph of a trace, such that some execution
// has all its links.
//
// S2 §6.2: links that hold only in some executions (*choices*) connect segments of certain links. Of all
// cycles look at those with the fewest choices. In such a cycle
//   - no exit of a segment reaches the entry of a later one by certain links, and no entry a later exit but
//   its
//     own segment's; else the certain way is shorter, and it wants nothing;
//   - a segment may be left by the first operation that its entry reaches of those that a thread does of one
//     kind to one location: later ones want more of the commits. (A thread's operations on one location are
//     in order, so this is found by halving. It is what S2's profiles are for: pairs of thread and variable
//     count, not operations.)
//   - what the choices want of the commits is possible together (Timing).
// Paths are tried by length, from entries of the threads' locations with the fewest entries first; a path
// never enters those that were started from before. As many choices as the part has chains, so polynomial for
// a fixed number of threads and locations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "checkers/store_buffer/reachability.h"
#include "checkers/store_buffer/timing.h"

namespace heddle::store_buffer {

// Links that come back to where they begin, and commits with which all of them hold.
struct Cycle {
  std::vector<Link> links;
  std::vector<Want> wants;      // of the commits, for the cycle to be
  std::vector<Commit> commits;  // that have it
};

class CycleSearch {
 public:
  // `certain` has the links of every execution; it has no cycle in the part. `part` is sorted. `ops` are the
  // operations of the part's nodes on locations, in order. Takes its steps from `budget`.
  CycleSearch(const History& history, Question question, const Graph& certain,
              const std::vector<uint32_t>& part, const std::vector<OpId>& ops, uint64_t& budget);

  std::optional<Cycle> run();
  // The budget ran out before the answer was known.
  bool is_exhausted() const { return exhausted_; }

 private:
  struct Choice {
    Link link;
    uint32_t from;  // places in the part
    uint32_t to;
    uint32_t entry_group;  // of link.to
    Wants wants;
  };
  // An operation that choices leave from.
  struct Exit {
    OpId op;
    uint32_t place;
    std::vector<uint32_t> choices;
  };
  // What a thread does to a location, in order.
  struct Group {
    std::array<std::vector<Exit>, 3> exits;  // reads, stores, writes
    std::vector<OpId> entries;               // operations that choices lead to
    uint32_t rank = 0;                       // by number of entries, the fewest first
  };

  void find_choices(const std::vector<OpId>& ops);
  void add_choice(OpId from, OpId to);
  uint32_t group_of(OpId op);
  void rank_groups();
  bool extend(uint32_t entry, std::size_t most);
  bool closes(uint32_t entry);
  bool may_follow(const Choice& choice) const;
  bool spend();
  uint32_t place_of(OpId op) const;
  Cycle cycle() const;

  const History& history_;
  Question question_;
  const Graph& certain_;
  const std::vector<uint32_t>& part_;
  uint64_t& budget_;
  bool exhausted_ = false;
  Reachability reachability_;
  Timing timing_;
  std::vector<Choice> choices_;
  std::vector<Group> groups_;
  std::vector<std::pair<uint64_t, uint32_t>> group_ids_;  // (thread, location) → group, sorted
  std::vector<const std::vector<Exit>*> exits_;           // of all groups, those that are not empty
  std::vector<uint32_t> group_order_;                     // groups by rank
  // Of the path being tried.
  uint32_t start_rank_ = 0;      // of the group it begins in
  std::vector<uint32_t> path_;   // choices
  std::vector<Want> wants_;      // of these
  std::size_t closed_from_ = 0;  // the cycle begins with this one of the path
  bool cut_off_ = false;         // longer paths have not been tried
};

}  // namespace heddle::store_buffer
