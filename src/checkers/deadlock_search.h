// The lock dependencies of a run and the search for cycles among them.
//
// A dependency is a thread taking a lock while it holds others. Dependencies D1 … Dn (n ≥ 2) form a cycle
// when
//   - their threads are pairwise different,
//   - each wants a lock that the next holds and that would block it (not both shared), the last one the
//   first's,
//   - no two of them hold a lock together that two threads cannot hold at once (such a gate lock keeps them
//   apart),
//   - no two of them are ordered by the forced order,
//   - no shorter cycle lies inside: a participant blocks only the one before it.
// Every schedule that ends in threads waiting for each other's locks shows such a cycle: the threads stand
// before their acquisitions at the same time, so what they hold goes together and none of the acquisitions
// comes first.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "checkers/forced_order.h"
#include "checkers/lock_graph.h"
#include "checkers/lock_places.h"
#include "core/lockset.h"

namespace heddle {

// One lock taken.
struct Acquisition {
  EventIndex index = 0;
  uint32_t lock = kNoId;
  SiteId site = kNoId;
  PlacesId places = kNoPlaces;  // where the locks held before it and this one were taken
  bool shared = false;
};

// Why a cycle through a dependency might not be reachable; see deadlock.h for the argument.
enum class Doubt : uint8_t {
  kNone,
  kNotNested,      // the thread released locks in another order than the reverse since it last held none
  kSynchronized,   // it forked, joined, met a barrier, a semaphore or a condition variable since then
  kPastHoldsLock,  // something it had to wait for was done by a thread that held a lock
};

struct Dependency {
  ThreadId thread = 0;
  Acquisition wanted;
  LocksetId held = kEmptyLockset;
  std::vector<Acquisition> holding;  // the members of held, in the order they were taken
  ThreadClock clock;                 // forced order at the acquisition
  uint64_t stretch = 0;              // ForcedOrder::stretch
  Doubt doubt = Doubt::kNone;
};

using DependencyCycle = std::span<const Dependency* const>;  // each wants what the next holds

class DeadlockSearch {
 public:
  using OnCycle = std::function<void(DependencyCycle)>;

  // Takes at most `budget` steps in all; collecting is worth while after `collect_every` new dependencies or
  // more.
  DeadlockSearch(LocksetTable& locksets, uint64_t budget, std::size_t collect_every, OnCycle on_cycle)
      : locksets_(locksets),
        budget_(budget),
        collect_every_(collect_every),
        collect_at_(collect_every),
        on_cycle_(std::move(on_cycle)) {}

  // Whether the same thread, locks, sites, doubt and clock were here before: the same cycles then.
  bool knows(uint64_t stretch, const Acquisition& wanted, Doubt doubt) const {
    return known_.contains({stretch << 2 | static_cast<uint64_t>(doubt), wanted.places});
  }
  // Adds a dependency that is not known and calls back for every cycle it closes.
  void add(Dependency dependency);

  // Drops what nothing to come can be unordered with. To be called when worth_collecting().
  bool worth_collecting() const { return dependencies_.size() >= collect_at_; }
  void collect(const ForcedOrder& order);

  bool exhausted() const { return exhausted_; }  // the budget is used up; cycles may have been missed
  uint64_t collected() const { return collected_; }
  std::size_t size() const { return dependencies_.size(); }

 private:
  struct Key {
    uint64_t who_and_doubt;  // a stretch, or a thread
    PlacesId places;         // of the wanted lock: all locks, modes and sites

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return mix(key.who_and_doubt ^ mix(key.places)); }
  };
  // Dependencies that differ in their clocks only: they make the same findings.
  struct Group {
    std::vector<uint32_t> members;  // in dependencies_
  };

  uint32_t group_of(const Dependency& dependency);
  void index(uint32_t number);
  void extend();
  bool blocks(const Dependency& holder, const Dependency& waiter) const;
  bool fits(const Dependency& candidate);
  bool ordered_with_path(const Dependency& candidate) const;
  bool take_step();

  LocksetTable& locksets_;
  uint64_t budget_;            // steps left
  std::size_t collect_every_;  // new dependencies, at least, from one collection to the next
  std::size_t collect_at_;     // number of dependencies at which to collect again
  OnCycle on_cycle_;
  LockGraph graph_;                                       // held → wanted, of all dependencies ever
  std::vector<Dependency> dependencies_;                  // those that can still be part of a cycle
  std::vector<Group> groups_;                             // never forgotten, unlike their members
  tsl::robin_map<Key, uint32_t, KeyHash> group_numbers_;  // by thread; index into groups_
  std::vector<std::vector<uint32_t>> holders_;            // by lock: groups with members that hold it
  tsl::robin_set<uint64_t, MixHash> closed_;              // sequences of groups known to be a cycle, hashed
  tsl::robin_set<Key, KeyHash> known_;                    // dependencies_, by stretch
  std::vector<const Dependency*> path_;  // of the search in progress, from the new dependency on
  std::vector<uint64_t> path_groups_;    // hash of the groups of the path, up to each place
  uint64_t collected_ = 0;               // dependencies dropped
  bool exhausted_ = false;
};

}  // namespace heddle
