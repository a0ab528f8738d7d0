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
//
// All but the forced order depends on the threads and locks only, so dependencies are sorted into kinds that
// agree in these, and the search goes from kind to kind. Whether the kinds of a path can meet is asked of the
// forced order (meetings.h). Only a circle of kinds that can meet is looked at site by site, so a program in
// which nothing meets does not pay for the number of its call stacks.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "checkers/forced_order.h"
#include "checkers/lock_dependency.h"
#include "checkers/lock_graph.h"
#include "checkers/lock_lives.h"
#include "checkers/meetings.h"
#include "core/lockset.h"

namespace heddle {

using DependencyCycle = std::span<const Dependency* const>;  // each wants what the next holds

class DeadlockSearch {
 public:
  using OnCycle = std::function<void(DependencyCycle)>;

  // A search may take so many steps beyond the budget: one that short costs no more than reading the events
  // behind it, and a long run of such searches stays decided.
  static constexpr uint64_t kFreeSteps = 64;

  // Takes at most `budget` steps in all; collecting is worth while after `collect_every` new dependencies or
  // more.
  DeadlockSearch(LocksetTable& locksets, uint64_t budget, std::size_t collect_every, OnCycle on_cycle)
      : locksets_(locksets),
        budget_(budget),
        collect_every_(collect_every),
        collect_at_(collect_every),
        on_cycle_(std::move(on_cycle)) {
    // They are most of what a program with many locks leaves here, and asked once for each that is new.
    constexpr float kDense = 0.8F;
    known_.max_load_factor(kDense);
    group_numbers_.max_load_factor(kDense);
    kind_numbers_.max_load_factor(kDense);
  }

  // Whether the same thread, locks, sites, doubt and clock were here before: the same cycles then.
  bool knows(uint64_t stretch, const Acquisition& wanted, Doubt doubt) const;
  // Adds a dependency that is not known and calls back for every cycle it closes, but once only for
  // dependencies that differ in their clocks.
  void add(Dependency dependency);

  // Drops what nothing to come can be unordered with, what something later can stand for, and what can only
  // be about locks that have ended. To be called when worth_collecting(), or when so many locks have ended.
  bool worth_collecting() const { return dependencies_.size() >= collect_at_; }
  void collect(const ForcedOrder& order, const LockLives& locks);
  // After collecting, if locks had ended: lets the caller number sets and places anew,
  // `restate(Dependency&)`, and then forgets what the old numbers meant.
  template <class Restate>
  void restate_all(Restate restate) {
    for (Dependency& dependency : dependencies_) restate(dependency);
    forget_numbers();
  }

  bool exhausted() const { return exhausted_; }  // the budget is used up; cycles may have been missed
  uint64_t collected() const { return collected_; }
  std::size_t size() const { return dependencies_.size(); }

 private:
  struct Key {
    uint64_t who_and_doubt;  // a stretch, or a thread
    uint64_t what;           // the places of the wanted lock, or the locks held and wanted

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return mix(key.who_and_doubt ^ mix(key.what)); }
  };
  using Numbers = tsl::robin_map<Key, uint32_t, KeyHash>;
  // Dependencies that differ in their clocks only: they make the same findings.
  struct Group {
    uint32_t kind;   // in kinds_
    uint32_t chain;  // the members
  };
  // Dependencies that agree in all but clocks and sites: they block each other and others in the same way.
  struct Kind {
    ThreadId thread;
    LocksetId held;
    uint32_t wanted;
    bool shared;                   // how it is wanted
    uint32_t chain;                // the members
    std::vector<uint32_t> groups;  // the members, by sites; in groups_
  };

  void index(uint32_t number);
  void drop_superseded();
  void index_all();
  void forget_numbers();
  void forget_groups();
  uint32_t group_of(const Dependency& dependency);
  uint32_t kind_of(const Dependency& dependency);
  void extend(uint32_t path);
  void choose_sites(uint32_t path, std::size_t place, uint32_t kinds_path);
  bool blocks(const Kind& holder, const Kind& waiter) const;
  bool fits(const Kind& candidate);
  bool can_meet(uint32_t path);
  uint64_t site_choices() const;
  uint64_t& closed(uint32_t path);
  void report(uint32_t path);
  bool take_steps(uint64_t steps);

  LocksetTable& locksets_;
  uint64_t budget_;            // steps left
  uint64_t free_steps_ = 0;    // steps left to this search before they are taken from the budget
  std::size_t collect_every_;  // new dependencies, at least, from one collection to the next
  std::size_t collect_at_;     // number of dependencies at which to collect again
  OnCycle on_cycle_;
  LockGraph graph_;                             // held → wanted, of dependencies_ and more
  Dependencies dependencies_;                   // those that can still be part of a cycle
  tsl::robin_set<Key, KeyHash> known_;          // dependencies_, by stretch and places
  std::vector<Group> groups_;                   // those without members are kept for a while
  std::vector<Kind> kinds_;                     // likewise
  Numbers group_numbers_;                       // by thread and places; index into groups_
  Numbers kind_numbers_;                        // by thread and locks; index into kinds_
  std::vector<std::vector<uint32_t>> holders_;  // by lock: kinds with members that hold it
  Meetings meetings_{dependencies_};            // of the members of kinds, and of groups
  std::vector<uint64_t> closed_;  // by sequence in meetings_: how many choices of sites were reported
  std::vector<uint32_t> path_;    // kinds of the search in progress, from that of the new dependency on
  uint32_t start_ = 0;            // of the search in progress: the sequence of the new dependency's group
  uint64_t collected_ = 0;        // dependencies dropped because nothing to come can be unordered with them
  bool exhausted_ = false;
};

}  // namespace heddle
