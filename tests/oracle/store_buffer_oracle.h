// TSO-serializability and robustness by their definitions (S2 §3–§5): every execution of a trace, that is
// every way to put the commits of its buffered writes between its events, and for each execution the conflict
// relation of S2 (1), pair by pair. Exponential; for traces of a dozen events, at most 64.
//
// Buffered writes: plain ones, and atomic stores that are not seq_cst. A seq_cst store and a
// read-modify-write write to memory at once. These drain the buffer of their thread, it is empty when they
// happen: seq_cst fences and stores, read-modify-writes (failed ones too), lock operations, fork, join (also
// the joined thread's), start, stop, barrier arrivals, semaphore operations.
//
// Besides S2 (1), in conflict are: lock operations on one lock, not both shared; fork(u) and join(u) with
// everything of u and with each other; an arrive and the leaves of its phase; a post and every later wait. A
// leave is a read of something nobody writes. Everything else (notify, sync, weaker fences, alloc, …) is no
// event here; alloc and free begin a new variable.
#pragma once

#include <optional>
#include <vector>

#include "trace/event.h"

namespace heddle::oracle {

// An event of a trace, or the commit of a write.
struct Item {
  std::size_t event;
  bool is_commit;
};
using Execution = std::vector<Item>;

enum class Order {
  kTso,       // the nodes are transactions, the relation is S2's (1)
  kTsoAndPo,  // each write with its commit and each other event is a node; program order is kept, too
};

// Events that write, read or order memory; the others are passed over.
bool takes_part(const Event& event);
bool is_buffered_write(const Event& event);
bool drains(const Event& event);

// A trace with commits as the execution it is. Writes that are never committed stay in their buffers.
Execution execution_of(const std::vector<Event>& trace);

// Whether the conflict graph of the execution has a cycle.
bool has_cycle(const std::vector<Event>& trace, const Execution& execution, Order order);

// Some execution of the trace, which has no commits, whose conflict graph has a cycle.
std::optional<Execution> find_violation(const std::vector<Event>& trace, Order order);

// All pairs (i, j) of places in the execution, i < j, that are in conflict.
std::vector<std::pair<std::size_t, std::size_t>> conflicts_of(const std::vector<Event>& trace,
                                                              const Execution& execution, Order order);

}  // namespace heddle::oracle
