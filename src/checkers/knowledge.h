// What an operation knows of the blocks that other threads have begun, by operation-level happens-before, and
// by which operations it came to know: the ground for blaming a block exactly.
//
// An operation e refutes a block B it is in iff something that e's transaction did not do happens after B's
// begin and before e. So it is enough to know, for each thread, the latest of its blocks whose begin happens
// before: a number, as in a vector clock. The path of operations it came along is kept with it and makes the
// report.
// Cost: O(threads) per conflict. Only the graph engine pays it.
#pragma once

#include <memory>
#include <vector>

#include "checkers/story.h"

namespace heddle {

class Knowledge {
 public:
  struct Entry {
    uint64_t number = 0;  // of the thread's latest block known to have begun; 0: none
    Told path;            // from the thread's operation that told of it; empty for the thread itself
  };

  // What is known of `thread`.
  const Entry& of(ThreadId thread) const {
    static const Entry kNothing;
    return thread < entries_.size() ? entries_[thread] : kNothing;
  }

  // The knowing thread, `self`, has begun its `number`-th block.
  void begin(ThreadId self, uint64_t number) { entry(self) = {number, {}}; }

  // `self` learns all that `source` knew; `hop` leads from the source's operation to its own. True when that
  // changed something.
  bool learn(ThreadId self, const Knowledge& source, const Told& hop) {
    bool changed = false;
    for (ThreadId thread = 0; thread < source.entries_.size(); ++thread) {
      const Entry& theirs = source.entries_[thread];
      if (thread == self || theirs.number == 0) continue;
      Entry& mine = entry(thread);
      if (theirs.number < mine.number) continue;
      Told path = theirs.path.then(hop);
      if (theirs.number == mine.number && !path.better_than(mine.path)) continue;
      mine = {theirs.number, std::move(path)};
      changed = true;
    }
    return changed;
  }

 private:
  Entry& entry(ThreadId thread) {
    if (thread >= entries_.size()) entries_.resize(thread + std::size_t{1});
    return entries_[thread];
  }

  std::vector<Entry> entries_;  // by thread
};

// A thread's knowledge, and snapshots of it that operations leave behind for others to learn from.
class KnowledgeOfThread {
 public:
  std::shared_ptr<const Knowledge> snapshot() {
    if (snapshot_ == nullptr) snapshot_ = std::make_shared<const Knowledge>(now_);
    return snapshot_;
  }
  bool is_current(const std::shared_ptr<const Knowledge>& snapshot) const { return snapshot == snapshot_; }
  void begin(ThreadId self, uint64_t number) {
    now_.begin(self, number);
    snapshot_.reset();
  }
  void learn(ThreadId self, const Knowledge& source, const Told& hop) {
    if (now_.learn(self, source, hop)) snapshot_.reset();
  }

 private:
  Knowledge now_;
  std::shared_ptr<const Knowledge> snapshot_;  // of now_; null: none since it changed
};

}  // namespace heddle
