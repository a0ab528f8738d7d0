// Looks for a cycle in one strongly connected part of the conflict graph of a trace, such that some execution
// has all its links.
//
// S2 §6.2: in a cycle that cannot be simplified, links that hold only in some executions (*choices*) connect
// segments of certain links, and no two segments lie on one chain of certain links; else the certain way
// between them would be shorter, and it wants nothing. So a cycle is a sequence of choices, each entering
// where the next leaves from by certain links alone, with these properties, which cut the search (S2's
// profiles are such pairs of entry and exit):
//   - no exit reaches a later entry by certain links, no entry a later exit but its own segment's;
//   - what the choices want of the commits is possible together (Timing).
// Sequences are tried by length, so the cycle found has the fewest choices. As many choices as the part has
// chains, at most two a thread and one a buffered location, so polynomial for a fixed number of both.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkers/store_buffer/graph.h"
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
  // operations of the part's nodes on locations, in order.
  CycleSearch(const History& history, Question question, const Graph& certain,
              const std::vector<uint32_t>& part, const std::vector<OpId>& ops, uint64_t budget);

  std::optional<Cycle> run();
  // The budget ran out before the answer was known.
  bool is_exhausted() const { return exhausted_; }

 private:
  struct Choice {
    Link link;
    uint32_t from;  // places in part_
    uint32_t to;
    Wants wants;
  };
  // The nodes that certain links lead to from one, itself included.
  struct Reach {
    std::vector<uint64_t> bits;     // by place; empty: not known yet
    std::vector<uint32_t> leaving;  // those that choices leave from
  };

  void find_choices(const std::vector<OpId>& ops);
  void add_choice(OpId from, OpId to);
  bool extend(uint32_t least, std::size_t most);
  bool closes();
  const Reach& reach(uint32_t place);
  bool reaches(uint32_t from, uint32_t to);
  bool may_follow(const Choice& choice);
  bool spend(uint64_t steps);
  uint32_t place_of(uint32_t node) const;
  Cycle cycle() const;

  const History& history_;
  Question question_;
  const Graph& certain_;
  const std::vector<uint32_t>& part_;
  uint64_t left_;  // steps
  bool exhausted_ = false;
  Timing timing_;
  std::vector<Choice> choices_;
  std::vector<std::vector<uint32_t>> leaving_;  // by place: choices
  std::vector<Reach> reach_;                    // by place
  std::vector<uint32_t> path_;                  // choices taken
  std::vector<Want> wants_;                     // of these
  std::size_t closed_from_ = 0;                 // the cycle begins with this one of the path
  bool cut_off_ = false;                        // longer paths have not been tried
};

}  // namespace heddle::store_buffer
