// The definitions of atomicity and determinism, computed the slow way: transactions as sets of operations,
// every conflict between every two operations, and both closed and searched by brute force. Cubic; for traces
// of some dozens of events.
//
// Operations: every event but the lock events that only repeat what the thread holds already.
//
// Transactions: an outermost block with everything its thread does from begin to end; if it is
// deterministic, also everything done by threads forked inside the transaction, to their end, even past the
// block's own. The kind of nested blocks does not matter. Any other operation is a transaction of its own.
//
// Conflict order, from an operation to a later one:
//   - of the same thread;
//   - on the same variable in the same life, one of them writing, plain or atomic;
//   - on the same lock, not both shared;
//   - fork(u) → operations of u → join(u), and fork(u) → join(u);
//   - arrive → leave of the same phase of a barrier; post → every later wait on a semaphore.
// Deterministic order is conflict order without variables and locks. Both are closed transitively.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "trace/event.h"

namespace heddle::oracle {

// Marks the events that are operations: all but the lock events that only repeat what the thread holds.
std::vector<bool> operations(const std::vector<Event>& trace);
// The transaction of each event: the index of the begin of its outermost block, or its own.
std::vector<std::size_t> transactions(const std::vector<Event>& trace);
// The phase of each arrive and leave (docs/design/happens-before.md): an arrive is of the open phase of its
// barrier unless its thread has arrived in it or somebody has left it; the n-th leave of a thread is of the
// phase of its n-th arrive.
std::vector<int> barrier_phases(const std::vector<Event>& trace);

// The first event that closes a cycle among transactions, A before B wherever an operation of A is in
// conflict order before one of B. None: the trace is serializable.
std::optional<EventIndex> first_cycle(const std::vector<Event>& trace);

// The blocks, by their begin event, that contain operation `at` and are proven not to run alone by it: from
// the block's begin conflict order leads to an operation outside the transaction of `at`, and from there to
// `at`. A block contains what its thread does between begin and end; a block that adopts also everything done
// by threads forked inside it. A block adopts if it and all blocks around it are deterministic.
std::set<EventIndex> refuted_blocks(const std::vector<Event>& trace, EventIndex at);

// All pairs (earlier, later) of operations of different threads in the same transaction that deterministic
// order leaves unordered and that are
//   - accesses to the same variable in the same life, one of them writing, plain or atomic;
//   - a lock operation and an acquire of the same lock, not both shared;
//   - waits on the same semaphore.
std::vector<std::pair<EventIndex, EventIndex>> conflicts(const std::vector<Event>& trace);

// The first event that closes a cycle or that is the later one of a conflict.
std::optional<EventIndex> first_determinism_violation(const std::vector<Event>& trace);

}  // namespace heddle::oracle
