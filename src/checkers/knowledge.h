// What an operation knows of the blocks that other threads have begun, by operation-level happens-before, and
// by which operations it came to know: the ground for blaming a block exactly.
//
// An operation e refutes a block B it is in iff something that e's transaction did not do happens after B's
// begin and before e. So it is enough to know, for each thread, the latest of its blocks whose begin happens
// before: a number, as in a vector clock. The path of operations it came along is kept with it and makes the
// report.
// Cost: O(threads in blocks, squared) per conflict. Only the graph engine pays it.
#pragma once

#include <memory>
#include <vector>

#include "checkers/story.h"

namespace heddle {

class Knowledge {
 public:
  struct Entry {
    ThreadId thread = kNoId;
    uint64_t number = 0;  // of the thread's latest block known to have begun; 0: none
    Told path;            // from the thread's operation that told of it; empty for the thread itself
  };

  // What is known of `thread`.
  const Entry& of(ThreadId thread) const {
    static const Entry kNothing;
    for (const Entry& entry : entries_)
      if (entry.thread == thread) return entry;
    return kNothing;
  }

  // The knowing thread, `self`, has begun its `number`-th block.
  void begin(ThreadId self, uint64_t number) { entry(self) = {self, number, {}}; }

  // `self` learns all that `source` knew; `hop` leads from the source's operation to its own. True when that
  // changed something. Of threads none of whose blocks anybody is in, nothing needs to be known.
  bool learn(ThreadId self, const Knowledge& source, const Told& hop, const Blocks& blocks) {
    std::erase_if(entries_, [&](const Entry& entry) { return !blocks.has_live(entry.thread); });
    bool changed = false;
    for (const Entry& theirs : source.entries_) {
      if (theirs.thread == self || !blocks.has_live(theirs.thread)) continue;
      Entry& mine = entry(theirs.thread);
      if (theirs.number < mine.number) continue;
      Told path = theirs.path.then(hop);
      if (theirs.number == mine.number && !path.better_than(mine.path)) continue;
      mine = {theirs.thread, theirs.number, std::move(path)};
      changed = true;
    }
    return changed;
  }

 private:
  Entry& entry(ThreadId thread) {
    for (Entry& entry : entries_)
      if (entry.thread == thread) return entry;
    return entries_.emplace_back(Entry{thread, 0, {}});
  }

  std::vector<Entry> entries_;  // one a thread, in no order
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
  void learn(ThreadId self, const Knowledge& source, const Told& hop, const Blocks& blocks) {
    if (now_.learn(self, source, hop, blocks)) snapshot_.reset();
  }
  void forget() { *this = {}; }

 private:
  Knowledge now_;
  std::shared_ptr<const Knowledge> snapshot_;  // of now_; null: none since it changed
};

}  // namespace heddle
