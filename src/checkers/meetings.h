// Whether threads can meet: one dependency out of each of several chains, no two of them ordered.
//
// A chain is a list of dependencies of one thread, oldest first, so what one member knows the later ones
// know, and who knows a member knows the earlier ones. Therefore, if y knows x, y and everything after it is
// out of the question for x and everything before it. Going back from the latest members, each step rules one
// member out for good, and what remains is the latest meeting: every other one has an earlier member in each
// place (Garg & Waldecker, TPDS 1994, who go forward). A dependency to come is unordered with some meeting
// iff it is with the latest.
//
// The answer for each sequence of chains is remembered. When chains have grown, only what is new is looked
// at: among the old members the latest meeting is what it was.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "checkers/lock_dependency.h"

namespace heddle {

class Meetings {
 public:
  // Members of chains are indices into `dependencies`.
  explicit Meetings(const Dependencies& dependencies) : dependencies_(dependencies) {}

  uint32_t add_chain();
  void append(uint32_t chain, uint32_t member) { chains_[chain].add(member); }
  bool is_empty(uint32_t chain) const { return chains_[chain].all().empty(); }
  // Takes the members out of all chains. Chains and sequences keep their numbers.
  void clear_members();
  void clear();

  // Sequences of chains, by number. The first chain stands for the dependency that looks for others; it takes
  // no part in meetings.
  uint32_t start(uint32_t chain) { return sequence(kNoId, chain); }
  uint32_t then(uint32_t sequence, uint32_t chain) { return this->sequence(sequence, chain); }

  // Finds the latest meeting of a sequence, after that of the sequence it prolongs was found to exist.
  // Returns the number of steps it took.
  uint64_t find(uint32_t sequence);
  bool found(uint32_t sequence) const { return !sequences_[sequence].latest.empty(); }
  // The member that takes part in the latest meeting for the chain at `place`, from 0 behind the first chain.
  const Dependency& member(uint32_t sequence, std::size_t place) const {
    return at(sequences_[sequence], place, sequences_[sequence].latest[place]);
  }
  std::size_t length(uint32_t sequence) const { return sequences_[sequence].chains.size(); }

 private:
  // Of a chain. Most have one, and there may be two chains for each dependency.
  class Members {
   public:
    std::span<const uint32_t> all() const {
      if (more_ != nullptr) return *more_;
      return {&only_, only_ != kNoId ? 1U : 0U};
    }
    void add(uint32_t member) {
      if (all().empty()) {
        only_ = member;
        return;
      }
      if (more_ == nullptr) more_ = std::make_unique<std::vector<uint32_t>>(1, only_);
      more_->push_back(member);
    }
    void clear() { *this = {}; }

   private:
    uint32_t only_ = kNoId;                        // or the first
    std::unique_ptr<std::vector<uint32_t>> more_;  // all, once there are several
  };
  using Places =
      std::vector<uint32_t>;  // for each chain of a sequence: how many members come up to the chosen
  struct Sequence {
    uint32_t parent = kNoId;       // the same without the last chain
    std::vector<uint32_t> chains;  // without the first
    uint64_t generation = 0;       // when the rest was found
    Places from;                   // the search began here
    Places latest;                 // and ended here; empty: in vain
  };

  uint32_t sequence(uint32_t parent, uint32_t chain);
  const Dependency& at(const Sequence& sequence, std::size_t place, uint32_t count) const {
    return dependencies_[chains_[sequence.chains[place]].all()[count - 1]];
  }
  bool step_back(const Sequence& sequence, Places& places) const;

  const Dependencies& dependencies_;
  std::vector<Members> chains_;
  std::vector<Sequence> sequences_;
  tsl::robin_map<uint64_t, uint32_t, MixHash> numbers_;  // (parent, last chain) → sequence
  uint64_t generation_ = 1;                              // how often members were cleared, and one
};

}  // namespace heddle
