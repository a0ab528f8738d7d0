#include "core/blocks.h"

namespace heddle {

void Blocks::begin(const Event& event, EventIndex index) {
  Thread& thread = this->thread(event.thread);
  if (free_.empty()) {
    free_.push_back(static_cast<BlockId>(blocks_.size()));
    blocks_.emplace_back();
  }
  const BlockId id = free_.back();
  free_.pop_back();
  Block& block = blocks_[id];
  block.name = event.object;
  block.site = event.site;
  block.begin = index;
  block.number = ++thread.begun;
  block.opener = event.thread;
  block.parent = thread.inner;  // where the block now stands in the thread's place
  block.users = 1;
  block.deterministic = event.operation == Operation::kBeginDeterministic;
  block.adopts = block.deterministic && (thread.inner == kNoId || blocks_[thread.inner].adopts);
  thread.inner = id;
  ++thread.live;
}

void Blocks::end(ThreadId thread) {
  const BlockId ended = threads_[thread].inner;
  const BlockId parent = blocks_[ended].parent;
  threads_[thread].inner = parent;
  if (parent != kNoId) ++blocks_[parent].users;
  release(ended);
}

bool Blocks::fork(ThreadId parent, ThreadId child) {
  BlockId adopting = inner(parent);
  while (adopting != kNoId && !blocks_[adopting].adopts) adopting = blocks_[adopting].parent;
  if (adopting == kNoId) return false;
  thread(child).inner = adopting;
  ++blocks_[adopting].users;
  return true;
}

void Blocks::stop(ThreadId thread) {
  const BlockId block = inner(thread);
  if (block == kNoId) return;
  threads_[thread].inner = kNoId;
  release(block);
}

void Blocks::release(BlockId block) {
  while (block != kNoId && --blocks_[block].users == 0) {
    --threads_[blocks_[block].opener].live;
    free_.push_back(block);
    block = blocks_[block].parent;
  }
}

}  // namespace heddle
