// Which transaction comes before which, and whether a new edge closes a cycle: the transactional
// happens-before graph of S0 §4, kept no larger than what can still matter.
//
// A cycle is closed only by an edge into an open transaction. So of a finished transaction all that matters
// is which open ones come before it, its *parents*; one without parents is forgotten at once, and whoever
// refers to it finds nothing. Finished transactions therefore hang directly below open ones: when a parent
// finishes, its own parents take its place the next time somebody looks. The edges among open transactions
// (at most one per thread, more only where threads outlive a deterministic block) are the graph that is
// searched.
//
// Compared with vector clocks that are brought up to date at every transaction's end, nothing is visited but
// what an operation touches, and a cycle is known at the very event that closes it.
//
// Cost of an edge: O(parents of its source), nothing when the source was forgotten; a search among open
// transactions only when a new edge leads into one that somebody already comes after. Independent of the
// length of the trace. Memory: what open transactions and the caller's handles still reach; collect() drops
// the rest.
//
// Story (checkers/story.h) is what edges remember: little for the clock engine, operations for the graph
// engine.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "checkers/story.h"
#include "trace/event.h"

namespace heddle {

// A transaction. One that is forgotten makes its handles stand for nothing.
struct TransactionHandle {
  uint32_t index = kNoId;
  uint32_t generation = 0;

  friend bool operator==(const TransactionHandle&, const TransactionHandle&) = default;
};

template <class Story>
class TransactionOrder {
 public:
  using Handle = TransactionHandle;

  // A transaction before which nothing comes yet.
  Handle open() {
    const Handle handle = allocate();
    nodes_[handle.index].open = true;
    return handle;
  }

  // Every operation of the transaction has been seen.
  void close(Handle handle) {
    Node& node = nodes_[handle.index];
    node.open = false;
    settle(handle.index);
  }

  bool exists(Handle handle) const {
    return handle.index != kNoId && nodes_[handle.index].generation == handle.generation;
  }
  bool is_open(Handle handle) const { return exists(handle) && nodes_[handle.index].open; }

  // `from` comes before the open transaction `to`, for the reason `story`. The result is a cycle, from `to`
  // back to it, if this would close one; then the edge is left out, so that what follows can still be judged.
  std::optional<Story> add(Handle from, const Story& story, Handle to) {
    if (!exists(from) || from == to) return std::nullopt;
    if (nodes_[from.index].open) return link(from.index, story, to.index);
    std::optional<Story> cycle;
    settle(from.index);
    if (!exists(from)) return std::nullopt;
    note_parents(to.index);
    // By index: a search below may make room elsewhere, but not in this list.
    for (std::size_t i = 0; i < nodes_[from.index].parents.size(); ++i) {
      if (is_noted(nodes_[from.index].parents[i])) continue;
      const Parent parent = nodes_[from.index].parents[i];
      const Story whole = parent.story.then(story);
      if (parent.node.index == to.index) {
        keep_better(cycle, whole);
      } else if (const auto closed = link(parent.node.index, whole, to.index)) {
        keep_better(cycle, *closed);
      }
    }
    return cycle;
  }

  // A finished transaction that comes after all of `before` and after `from` (for the reason `story`): what
  // one operation outside any block makes of what its thread has seen. `before` is finished or nothing; if it
  // says it all, it is the result. `fresh`: nobody but the caller knows `before`, so it may be changed.
  Handle extend(Handle before, bool& fresh, Handle from, const Story& story) {
    if (!exists(from) || from == before) return before;
    if (!nodes_[from.index].open) {
      settle(from.index);
      if (!exists(from)) return before;
    }
    if (!exists(before)) before = Handle();
    if (nodes_[from.index].open) return extend_by_one(before, fresh, from, story);
    if (exists(before)) {
      note_parents(before.index);
    } else {
      ++noting_;
    }
    for (std::size_t i = 0; i < nodes_[from.index].parents.size(); ++i) {
      if (is_noted(nodes_[from.index].parents[i])) continue;
      const Parent parent = nodes_[from.index].parents[i];
      before = extend_by_one(before, fresh, parent.node, parent.story.then(story));
    }
    return before;
  }

  // Everything before `from` comes before the open transaction `to` as well, by the order of one thread:
  // nothing has come after `to` yet, so no cycle.
  void inherit(Handle from, Handle to) {
    if (!exists(from)) return;
    settle(from.index);
    if (!exists(from)) return;
    nodes_[to.index].parents = nodes_[from.index].parents;
    for (const Parent& parent : nodes_[to.index].parents) nodes_[parent.node.index].has_children = true;
  }

  // Time to collect()? `handles` is about how many handles the caller would have to show.
  bool is_full(std::size_t handles) const { return used_ > std::max(limit_, handles / 8); }

  // Forgets every finished transaction that is neither below one of the handles that `each` shows (it calls
  // its argument with each) nor below an open transaction.
  template <class EachHandle>
  void collect(EachHandle each) {
    ++round_;
    each([&](Handle handle) {
      if (exists(handle)) keep(handle.index);
    });
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].open) keep(i);
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].used && nodes_[i].visited != round_) forget(i);
    limit_ = std::max<std::size_t>(kLeastLimit, 2 * used_);
  }

  std::size_t size() const { return used_; }

 private:
  static constexpr std::size_t kLeastLimit = 4096;

  // "node comes before this one", open when last looked at.
  struct Parent {
    Handle node;
    [[no_unique_address]] Story story;
  };
  struct Node {
    uint32_t generation = 0;
    uint64_t visited = 0;        // the search or collection that came here last
    uint64_t replaced = 0;       // the call of replace_finished_parents() that came here last
    uint64_t noted = 0;          // the call of note_parents() that came here last
    bool used = false;           // not in free_
    bool open = false;           // may still get parents
    bool has_children = false;   // somebody comes after it
    std::size_t compact_at = 8;  // number of parents at which finished ones are taken out
    std::vector<Parent> parents;
  };

  Handle allocate() {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(nodes_.size()));
      nodes_.emplace_back();
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    Node& node = nodes_[index];
    node.used = true;
    node.open = false;
    node.has_children = false;
    node.compact_at = 8;
    ++used_;
    return {index, node.generation};
  }

  void forget(uint32_t index) {
    Node& node = nodes_[index];
    ++node.generation;
    node.used = false;
    node.parents.clear();
    --used_;
    free_.push_back(index);
  }

  // Marks the parents of a transaction, so that is_noted() tells in O(1) which of another's it has already.
  // With stories nothing is ever noted: the other may tell a better one.
  void note_parents(uint32_t index) {
    if constexpr (Story::kTold) return;
    ++noting_;
    for (const Parent& parent : nodes_[index].parents)
      if (exists(parent.node)) nodes_[parent.node.index].noted = noting_;
  }
  bool is_noted(const Parent& parent) const {
    return !Story::kTold && nodes_[parent.node.index].noted == noting_;
  }

  static void keep_better(std::optional<Story>& best, const Story& story) {
    if (!best || story.better_than(*best)) best = story;
  }

  // Once settled, its parents are open, and those are kept anyway.
  void keep(uint32_t index) {
    if (nodes_[index].visited == round_) return;
    settle(index);
    if (nodes_[index].used) nodes_[index].visited = round_;
  }

  // Replaces parents that have finished by theirs. A finished transaction that is left without parents is
  // forgotten.
  void settle(uint32_t index) {
    const std::vector<Parent>& parents = nodes_[index].parents;
    if (std::any_of(parents.begin(), parents.end(),
                    [&](const Parent& parent) { return !is_open(parent.node); }))
      replace_finished_parents(index);
    Node& node = nodes_[index];
    if (!node.open && node.parents.empty()) forget(index);
    node.compact_at = std::max<std::size_t>(8, 2 * node.parents.size());
  }

  // Without recursion: chains of finished transactions can be long.
  void replace_finished_parents(uint32_t index) {
    ++replacement_;
    work_.clear();
    std::swap(work_, nodes_[index].parents);
    std::vector<Parent>& result = nodes_[index].parents;
    for (std::size_t i = 0; i < work_.size(); ++i) {
      const Parent parent = work_[i];
      if (!exists(parent.node)) continue;
      Node& node = nodes_[parent.node.index];
      if (node.replaced == replacement_) continue;
      node.replaced = replacement_;
      if (node.open) {
        result.push_back(parent);
        continue;
      }
      for (const Parent& further : node.parents)
        work_.push_back({further.node, further.story.then(parent.story)});
    }
  }

  // The edge between two open transactions, unless it closes a cycle; then that is the result.
  std::optional<Story> link(uint32_t from, const Story& story, uint32_t to) {
    for (Parent& parent : nodes_[to].parents) {
      if (parent.node.index != from || !exists(parent.node)) continue;
      if (story.better_than(parent.story)) parent.story = story;
      return std::nullopt;
    }
    if (nodes_[to].has_children)
      if (const std::optional<Story> back = path(to, from)) return back->then(story);
    nodes_[from].has_children = true;
    nodes_[to].parents.push_back({{from, nodes_[from].generation}, story});
    if (nodes_[to].parents.size() >= nodes_[to].compact_at) settle(to);
    return std::nullopt;
  }

  // How `from` comes before `to`, by the fewest edges; none: it does not.
  std::optional<Story> path(uint32_t from, uint32_t to) {
    ++round_;
    search_.clear();
    search_.push_back({{to, nodes_[to].generation}, Story()});
    nodes_[to].visited = round_;
    for (std::size_t i = 0; i < search_.size(); ++i) {
      const Parent child = search_[i];
      for (const Parent& parent : nodes_[child.node.index].parents) {
        if (!exists(parent.node)) continue;
        if (parent.node.index == from) return parent.story.then(child.story);
        if (nodes_[parent.node.index].visited == round_) continue;
        nodes_[parent.node.index].visited = round_;
        search_.push_back({parent.node, parent.story.then(child.story)});
      }
    }
    return std::nullopt;
  }

  // extend() for a parent that is open.
  Handle extend_by_one(Handle before, bool& fresh, Handle parent, const Story& story) {
    if (exists(before) && nodes_[before.index].parents.size() >= nodes_[before.index].compact_at)
      settle(before.index);
    if (!exists(before)) {
      before = allocate();
      fresh = true;
    }
    for (Parent& known : nodes_[before.index].parents) {
      if (known.node != parent) continue;
      if (fresh && story.better_than(known.story)) known.story = story;
      return before;
    }
    if (!fresh) {
      const Handle copy = allocate();
      nodes_[copy.index].parents = nodes_[before.index].parents;
      before = copy;
      fresh = true;
    }
    nodes_[parent.index].has_children = true;
    nodes_[before.index].parents.push_back({parent, story});
    return before;
  }

  std::vector<Node> nodes_;
  std::vector<uint32_t> free_;       // indices of nodes not in use
  std::size_t used_ = 0;             // nodes in use
  std::size_t limit_ = kLeastLimit;  // is_full() past it
  uint64_t round_ = 0;               // number of the latest search or collection
  uint64_t noting_ = 0;              // number of the latest note_parents()
  uint64_t replacement_ = 0;         // number of the latest replace_finished_parents()
  std::vector<Parent> work_;         // of replace_finished_parents()
  std::vector<Parent> search_;       // of path(): transactions reached, with the story from them to its end
};

}  // namespace heddle
