// The blocks every thread is in, as a tree, and so who belongs to whose transaction (ALGORITHMS §1).
//
// A transaction is the outermost block. A deterministic block *adopts* the threads forked inside it, to their
// end, unless an atomic block stands around it; an adopted thread is in that block from its first operation
// on. A block lives as long as some thread is in it, past its own `end` if it has adopted threads.
// Cost: O(1) per event, except a fork: the depth of the forking thread's blocks.
#pragma once

#include <vector>

#include "trace/event.h"

namespace heddle {

using BlockId = uint32_t;  // of a block that some thread is in; reused afterwards

struct Block {
  uint32_t name = kNoId;    // in Space::kBlock
  SiteId site = kNoId;      // of its begin
  EventIndex begin = 0;     // the event
  uint64_t number = 0;      // its opener's how-manieth block, from 1
  ThreadId opener = kNoId;  // the thread that began it
  BlockId parent = kNoId;   // the next block around it
  uint32_t users = 0;       // threads directly in it, and blocks
  bool deterministic = false;
  bool adopts = false;
};

class Blocks {
 public:
  // The innermost block the thread is in; kNoId: none.
  BlockId inner(ThreadId thread) const {
    return thread < threads_.size() ? threads_[thread].inner : BlockId{kNoId};
  }
  const Block& operator[](BlockId block) const { return blocks_[block]; }
  // How many blocks the thread has begun.
  uint64_t begun(ThreadId thread) const { return thread < threads_.size() ? threads_[thread].begun : 0; }
  // Whether some thread is in a block that `thread` began.
  bool has_live(ThreadId thread) const { return thread < threads_.size() && threads_[thread].live > 0; }
  // The transaction of a thread in `block`: the outermost block around it.
  BlockId outermost(BlockId block) const {
    while (blocks_[block].parent != kNoId) block = blocks_[block].parent;
    return block;
  }

  void begin(const Event& event, EventIndex index);
  // The thread ends its innermost block. WellFormed has seen to it that there is one.
  void end(ThreadId thread);
  // True when the child is adopted by a block the parent is in.
  bool fork(ThreadId parent, ThreadId child);
  // The thread acts no more.
  void stop(ThreadId thread);

 private:
  struct Thread {
    BlockId inner = kNoId;
    uint64_t begun = 0;
    uint64_t live = 0;  // of these: somebody is in them
  };

  Thread& thread(ThreadId id) {
    if (id >= threads_.size()) threads_.resize(id + std::size_t{1});
    return threads_[id];
  }
  void release(BlockId block);

  std::vector<Thread> threads_;
  std::vector<Block> blocks_;
  std::vector<BlockId> free_;
};

}  // namespace heddle
