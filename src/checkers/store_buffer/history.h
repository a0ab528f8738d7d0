// A trace as the store-buffer checkers see it: the operations that read, write or order memory, each with its
// transaction, and what the buffers allow.
//
// Locks are locations, too: taking or giving one back exclusively writes it, shared reads it. Forks, joins,
// barriers and semaphores, which order one way only, are `syncs`.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/hash.h"
#include "core/barrier_phases.h"
#include "core/blocks.h"
#include "core/checker.h"
#include "trace/event.h"

namespace heddle::store_buffer {

using OpId = uint32_t;  // an operation's place in the history: its order
inline constexpr OpId kNoOp = std::numeric_limits<OpId>::max();

struct Op {
  Event event;
  EventIndex index = 0;  // of the event
  ThreadId thread = 0;
  uint32_t transaction = 0;
  uint32_t location = kNoId;  // kNoId: no memory that others access
  bool reads : 1 = false;     // its location, or nothing (leave)
  bool stores : 1 = false;    // its location, through the store buffer
  bool writes : 1 = false;    // its location, at once
  bool drains : 1 = false;

  bool changes() const { return stores || writes; }
};

// The thread whose buffer is empty besides the operation's own: the one it joins. Else kNoId.
inline ThreadId joined_thread(const Op& op) {
  return op.event.operation == Operation::kJoin ? op.event.object : ThreadId{kNoId};
}

// The first operation comes before the second in every execution, and others can tell.
struct Link {
  OpId from = kNoOp;
  OpId to = kNoOp;

  friend bool operator==(const Link&, const Link&) = default;
};

// When something happens: an operation between the commits around it. Commits in one gap have a rank.
using Time = uint64_t;
inline constexpr Time kNever = std::numeric_limits<Time>::max();
constexpr Time time_of(OpId op) { return (Time{op} + 1) << 32; }
// In the gap after `op` (or before the first, for kNoOp), as number `rank` > 0 there.
constexpr Time time_after(OpId op, uint32_t rank) { return (op == kNoOp ? 0 : time_of(op)) | rank; }

struct History {
  std::vector<Op> ops;
  std::vector<Link> syncs;
  std::vector<uint32_t> transactions;  // the block each one is, in `blocks`; kNoId: a single operation
  std::vector<Block> blocks;           // outermost ones
  uint32_t locations = 0;              // how many there are
  uint32_t threads = 0;
  // By operation. Of a store: the operation that drains it, ops.size() when there is none. Of a read: the
  // youngest store of its thread to its location that may still be in the buffer; kNoOp: none. Such a read is
  // *buffered* (S2 §4.1).
  std::vector<OpId> drain;
  std::vector<OpId> own_store;
  // By store, of a trace that tells: when it was committed, kNever: not before the trace ended. Empty: the
  // trace does not tell.
  std::vector<Time> committed;

  bool is_execution() const { return !committed.empty(); }
  bool is_buffered_read(OpId op) const { return own_store[op] != kNoOp; }
  // The outermost block an operation is in; null: none.
  const Block* block_of(OpId op) const {
    const uint32_t block = transactions[ops[op].transaction];
    return block == kNoId ? nullptr : &blocks[block];
  }

  // Fills in drain and own_store.
  void find_buffered();
};

// The same with a full fence right after each of these operations, which belongs to the operation's block.
// `origin` becomes the operation of the old history that each one stands for, kNoOp for the new fences.
History with_fences(const History& history, std::span<const OpId> after, std::vector<OpId>& origin);

// Makes a History from events.
class Recorder {
 public:
  void process(const EventBatch& batch);
  std::size_t size() const { return history_.ops.size(); }  // operations so far
  History take();

 private:
  // Arrivals of a barrier's phase.
  struct Arrivals {
    std::vector<OpId> ops;
    void join(const Arrivals& other) { ops.insert(ops.end(), other.ops.begin(), other.ops.end()); }
  };
  struct Thread {
    OpId fork = kNoOp;              // to be linked to its operations until one of them drains
    std::vector<OpId> since_drain;  // its last operation that drains, and all after it
    std::vector<OpId> stores;       // not committed, from `committed` on
    std::size_t committed = 0;      // how many of them were
  };
  struct OpenBlock {
    EventIndex begin = 0;
    uint32_t transaction = kNoId;
  };

  void record(const Event& event, EventIndex index);
  OpId add(Op op);
  uint32_t transaction_of(ThreadId thread);
  uint32_t new_transaction(uint32_t block);
  uint32_t location(std::vector<uint32_t>& of_object, uint32_t object);
  void end_life(uint32_t variable);
  void join(OpId op, ThreadId child);
  void post(OpId op, const Event& event);
  void commit(const Event& event);
  Thread& thread(ThreadId id);

  History history_;
  Blocks blocks_;
  std::vector<OpenBlock> open_;        // by BlockId: the transaction an outermost block stands for
  std::vector<uint32_t> of_variable_;  // the location of a variable's present life
  std::vector<uint32_t> of_lock_;      // the location of a lock
  std::vector<Thread> threads_;        // by thread
  tsl::robin_map<uint32_t, std::vector<OpId>> posts_;  // by semaphore: the last of each thread
  tsl::robin_map<uint32_t, BarrierPhases<Arrivals>> barriers_;
  bool has_commits_ = false;
  uint32_t rank_ = 0;  // of the last commit in its gap
};

}  // namespace heddle::store_buffer
