#include "checkers/store_buffer/history.h"

#include <algorithm>
#include <utility>

#include "trace/store_buffer.h"

namespace heddle::store_buffer {

void Recorder::process(const EventBatch& batch) {
  for (std::size_t i = 0; i < batch.events.size(); ++i) record(batch.events[i], batch.first + i);
}

void Recorder::record(const Event& event, EventIndex index) {
  Op op;
  op.event = event;
  op.index = index;
  op.thread = event.thread;
  op.drains = drains_store_buffer(event);
  switch (event.operation) {
    case Operation::kRead:
    case Operation::kAtomicRead:
    case Operation::kAtomicCompareFail:
      op.location = location(of_variable_, event.object);
      op.reads = true;
      add(op);
      break;
    case Operation::kWrite:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
      op.location = location(of_variable_, event.object);
      op.stores = is_buffered_write(event);
      op.writes = !op.stores;
      add(op);
      if (op.stores) thread(event.thread).stores.push_back(static_cast<OpId>(history_.ops.size() - 1));
      break;
    case Operation::kAcquire:
    case Operation::kRelease:
      op.location = location(of_lock_, event.object);
      op.writes = true;
      add(op);
      break;
    case Operation::kAcquireShared:
    case Operation::kReleaseShared:
      op.location = location(of_lock_, event.object);
      op.reads = true;
      add(op);
      break;
    case Operation::kFork:
      thread(event.object).fork = add(op);
      blocks_.fork(event.thread, event.object);
      break;
    case Operation::kJoin:
      join(add(op), event.object);
      blocks_.stop(event.object);
      break;
    case Operation::kThreadEnd:
      add(op);
      blocks_.stop(event.thread);
      break;
    case Operation::kThreadBegin: add(op); break;
    case Operation::kFence:
      if (op.drains) add(op);
      break;
    case Operation::kArrive: barriers_[event.object].arrive(event.thread, {{add(op)}}); break;
    case Operation::kLeave: {
      op.reads = true;
      const OpId leave = add(op);
      for (const OpId arrive : barriers_[event.object].leave(event.thread).ops)
        history_.syncs.push_back({arrive, leave});
      break;
    }
    case Operation::kPost: post(add(op), event); break;
    case Operation::kWait: {
      const OpId wait = add(op);
      for (const OpId post : posts_[event.object]) history_.syncs.push_back({post, wait});
      break;
    }
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic: blocks_.begin(event, index); break;
    case Operation::kEnd: blocks_.end(event.thread); break;
    case Operation::kAlloc:
    case Operation::kFree: end_life(event.object); break;
    case Operation::kCommit: commit(event); break;
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kTaskBegin:
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kCount:
    case Operation::kTake:
    case Operation::kDrop:
    case Operation::kAlive:
    case Operation::kFocus:
    case Operation::kSync:
    case Operation::kNested: break;
  }
}

OpId Recorder::add(Op op) {
  const BlockId inner = blocks_.inner(op.thread);
  op.transaction = inner == kNoId ? new_transaction(kNoId) : transaction_of(op.thread);
  const OpId id = static_cast<OpId>(history_.ops.size());
  Thread& of = thread(op.thread);
  if (of.fork != kNoOp) history_.syncs.push_back({of.fork, id});
  if (op.drains) {
    of.fork = kNoOp;
    of.since_drain.clear();
    of.stores.clear();  // what was not committed by now never is
    of.committed = 0;
  }
  of.since_drain.push_back(id);
  rank_ = 0;
  history_.ops.push_back(op);
  return id;
}

uint32_t Recorder::transaction_of(ThreadId of) {
  const BlockId outermost = blocks_.outermost(blocks_.inner(of));
  if (outermost >= open_.size()) open_.resize(outermost + std::size_t{1});
  OpenBlock& open = open_[outermost];
  const Block& block = blocks_[outermost];
  // Ids of blocks are used again; their begins are not.
  if (open.transaction == kNoId || open.begin != block.begin) {
    open = {block.begin, new_transaction(static_cast<uint32_t>(history_.blocks.size()))};
    history_.blocks.push_back(block);
  }
  return open.transaction;
}

uint32_t Recorder::new_transaction(uint32_t block) {
  history_.transactions.push_back(block);
  return static_cast<uint32_t>(history_.transactions.size() - 1);
}

uint32_t Recorder::location(std::vector<uint32_t>& of_object, uint32_t object) {
  if (object >= of_object.size()) of_object.resize(object + std::size_t{1}, kNoId);
  if (of_object[object] == kNoId) of_object[object] = history_.locations++;
  return of_object[object];
}

void Recorder::end_life(uint32_t variable) {
  if (variable < of_variable_.size()) of_variable_[variable] = kNoId;
}

// Program order within the child is not enough: not all its operations are in order with its last one.
void Recorder::join(OpId op, ThreadId child) {
  const Thread& of = thread(child);
  for (const OpId earlier : of.since_drain) history_.syncs.push_back({earlier, op});
  if (of.since_drain.empty() && of.fork != kNoOp) history_.syncs.push_back({of.fork, op});
}

// A thread's posts drain, so they are in order and the last stands for all.
void Recorder::post(OpId op, const Event& event) {
  std::vector<OpId>& posts = posts_[event.object];
  std::erase_if(posts, [&](OpId post) { return history_.ops[post].thread == event.thread; });
  posts.push_back(op);
}

void Recorder::commit(const Event& event) {
  has_commits_ = true;
  Thread& of = thread(event.thread);
  const OpId store = of.stores[of.committed++];
  if (history_.committed.size() < history_.ops.size()) history_.committed.resize(history_.ops.size(), kNever);
  history_.committed[store] = time_after(static_cast<OpId>(history_.ops.size() - 1), ++rank_);
}

Recorder::Thread& Recorder::thread(ThreadId id) {
  if (id >= threads_.size()) threads_.resize(id + std::size_t{1});
  return threads_[id];
}

History Recorder::take() {
  if (has_commits_) history_.committed.resize(history_.ops.size(), kNever);
  history_.threads = static_cast<uint32_t>(threads_.size());
  history_.find_buffered();
  return std::move(history_);
}

void History::find_buffered() {
  const OpId end = static_cast<OpId>(ops.size());
  drain.assign(ops.size(), kNoOp);
  own_store.assign(ops.size(), kNoOp);
  std::vector<std::vector<OpId>> waiting(threads);   // by thread: stores not drained
  tsl::robin_map<uint64_t, OpId, MixHash> youngest;  // (thread, location) → store
  const auto empty = [&](ThreadId thread, OpId now) {
    for (const OpId store : waiting[thread]) {
      drain[store] = now;
      youngest.erase(uint64_t{thread} << 32 | ops[store].location);
    }
    waiting[thread].clear();
  };
  for (OpId id = 0; id < end; ++id) {
    const Op& op = ops[id];
    const uint64_t key = uint64_t{op.thread} << 32 | op.location;
    if (const ThreadId child = joined_thread(op); child != kNoId) empty(child, id);
    if (op.drains) {
      empty(op.thread, id);
    } else if (op.stores) {
      waiting[op.thread].push_back(id);
      youngest[key] = id;
    } else if (op.reads && op.location != kNoId) {
      const auto found = youngest.find(key);
      if (found != youngest.end()) own_store[id] = found->second;
    }
  }
  for (const std::vector<OpId>& stores : waiting)
    for (const OpId store : stores) drain[store] = end;
}

History with_fences(const History& history, std::span<const OpId> after, std::vector<OpId>& origin) {
  History fenced;
  fenced.transactions = history.transactions;
  fenced.blocks = history.blocks;
  fenced.locations = history.locations;
  fenced.threads = history.threads;
  fenced.ops.reserve(history.ops.size() + after.size());
  origin.clear();
  std::vector<OpId> moved(history.ops.size());
  std::vector<bool> is_fenced(history.ops.size(), false);
  for (const OpId op : after) is_fenced[op] = true;
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Op& op = history.ops[id];
    moved[id] = static_cast<OpId>(fenced.ops.size());
    fenced.ops.push_back(op);
    origin.push_back(id);
    if (!is_fenced[id]) continue;
    Op fence;
    fence.event.operation = Operation::kFence;
    fence.event.order = MemoryOrder::kSeqCst;
    fence.event.thread = op.thread;
    fence.event.site = op.event.site;
    fence.index = op.index;
    fence.thread = op.thread;
    fence.drains = true;
    fence.transaction = op.transaction;
    if (history.transactions[op.transaction] == kNoId) {
      fence.transaction = static_cast<uint32_t>(fenced.transactions.size());
      fenced.transactions.push_back(kNoId);
    }
    fenced.ops.push_back(fence);
    origin.push_back(kNoOp);
  }
  for (const Link& sync : history.syncs) fenced.syncs.push_back({moved[sync.from], moved[sync.to]});
  fenced.find_buffered();
  return fenced;
}

}  // namespace heddle::store_buffer
