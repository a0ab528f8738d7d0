// What an operation knows of the blocks that other threads have begun, by operation-level happens-before, and
// by which operations it came to know: the ground for blaming a block exactly.
//
// An operation e refutes a block B it is in iff something that e's transaction did not do happens after B's
// begin and before e. So it is enough to know, for each thread, the latest of its blocks whose begin happens
// before: a number, as in a vector clock. The path of operations it came along is kept with it and makes the
// report.
// Cost: O(threads in blocks) per conflict. Only the graph engine pays it.
#pragma once

#include <algorithm>
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
    const auto place = find(thread);
    return place != entries_.end() && place->thread == thread ? *place : kNothing;
  }

  // The knowing thread, `self`, has begun its `number`-th block.
  void begin(ThreadId self, uint64_t number) {
    const auto place = entries_.begin() + (find(self) - entries_.cbegin());
    if (place != entries_.end() && place->thread == self) {
      *place = {self, number, {}};
    } else {
      entries_.insert(place, {self, number, {}});
    }
  }

  // `self` learns all that `source` knew; `hop` leads from the source's operation to its own. True when that
  // changed something. Of threads none of whose blocks anybody is in, nothing needs to be known.
  bool learn(ThreadId self, const Knowledge& source, const Told& hop, const Blocks& blocks) {
    std::vector<Entry> merged;
    merged.reserve(std::max(entries_.size(), source.entries_.size()));
    bool changed = false;
    auto mine = entries_.begin();
    const auto keep_mine_before = [&](ThreadId thread) {
      for (; mine != entries_.end() && mine->thread < thread; ++mine)
        if (blocks.has_live(mine->thread)) merged.push_back(std::move(*mine));
    };
    for (const Entry& theirs : source.entries_) {
      if (theirs.thread == self || !blocks.has_live(theirs.thread)) continue;
      keep_mine_before(theirs.thread);
      const bool both = mine != entries_.end() && mine->thread == theirs.thread;
      Entry known = both ? std::move(*mine++) : Entry{theirs.thread, 0, {}};
      if (theirs.number >= known.number) {
        Told path = theirs.path.then(hop);
        if (theirs.number > known.number || path.better_than(known.path)) {
          known = {theirs.thread, theirs.number, std::move(path)};
          changed = true;
        }
      }
      merged.push_back(std::move(known));
    }
    keep_mine_before(kNoId);
    entries_ = std::move(merged);
    return changed;
  }

 private:
  std::vector<Entry>::const_iterator find(ThreadId thread) const {
    return std::lower_bound(entries_.begin(), entries_.end(), thread,
                            [](const Entry& entry, ThreadId id) { return entry.thread < id; });
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
  void learn(ThreadId self, const Knowledge& source, const Told& hop, const Blocks& blocks) {
    if (now_.learn(self, source, hop, blocks)) snapshot_.reset();
  }
  void forget() { *this = {}; }

 private:
  Knowledge now_;
  std::shared_ptr<const Knowledge> snapshot_;  // of now_; null: none since it changed
};

}  // namespace heddle
