// The order between operations that others can tell, as few links as their closure needs.
//
// Two questions share the search for cycles and differ in what is a node and which order within a thread
// counts:
//   kTransactions (tso): nodes are transactions; within a thread S2's (1): a write and a later read of
//       another location are in no order, nor a buffered read and such a read.
//   kOperations (robustness): every operation is a node, and program order counts whole.
#pragma once

#include <vector>

#include "checkers/store_buffer/history.h"

namespace heddle::store_buffer {

enum class Question : uint8_t { kTransactions, kOperations };

inline uint32_t node_count(const History& history, Question question) {
  return static_cast<uint32_t>(question == Question::kTransactions ? history.transactions.size()
                                                                   : history.ops.size());
}
inline uint32_t node_of(const History& history, Question question, OpId op) {
  return question == Question::kTransactions ? history.ops[op].transaction : op;
}

// Whether two operations of one thread, in this order, are in conflict: S2 (1), second half.
bool in_thread_conflict(const History& history, OpId earlier, OpId later);

// Within threads, and syncs. Holds in every execution. Cost: a few links an operation.
std::vector<Link> thread_links(const History& history, Question question);

// Between threads, of a trace without commits.
struct TraceLinks {
  std::vector<Link> certain;   // hold in every execution
  std::vector<Link> possible;  // hold in some. Enough of them that the same operations are strongly connected
                               // as with all that hold in some execution, not all
};
// Cost: O(threads that use the location) an operation.
TraceLinks trace_links(const History& history);

// Between threads, of the execution in which stores are committed at these times (by operation).
std::vector<Link> execution_links(const History& history, const std::vector<Time>& committed);

// The executions that commit every store as early, and as late, as can be.
std::vector<Time> earliest_commits(const History& history);
std::vector<Time> latest_commits(const History& history);

}  // namespace heddle::store_buffer
