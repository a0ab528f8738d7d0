#include "serializability_oracle.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle::oracle {

namespace {

using Matrix = std::vector<std::vector<bool>>;
using Block = std::optional<std::size_t>;  // the index of its begin event; none: outside all blocks

bool is_read(const Event& e) {
  return e.operation == Operation::kRead || e.operation == Operation::kAtomicRead ||
         e.operation == Operation::kAtomicCompareFail;
}
bool is_write(const Event& e) {
  return e.operation == Operation::kWrite || e.operation == Operation::kAtomicWrite ||
         e.operation == Operation::kAtomicUpdate;
}
bool is_acquire(const Event& e) {
  return e.operation == Operation::kAcquire || e.operation == Operation::kAcquireShared;
}
bool is_release(const Event& e) {
  return e.operation == Operation::kRelease || e.operation == Operation::kReleaseShared;
}
bool is_shared(const Event& e) {
  return e.operation == Operation::kAcquireShared || e.operation == Operation::kReleaseShared;
}
bool begins_life(const Event& e) {
  return e.operation == Operation::kAlloc || e.operation == Operation::kFree;
}

}  // namespace

std::vector<bool> operations(const std::vector<Event>& trace) {
  std::vector<bool> result(trace.size(), true);
  std::map<std::tuple<ThreadId, uint32_t, bool>, int> depth;  // thread, lock, shared
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    if (e.operation == Operation::kNested) result[i] = false;
    if (is_acquire(e)) result[i] = depth[{e.thread, e.object, is_shared(e)}]++ == 0;
    if (is_release(e)) result[i] = --depth[{e.thread, e.object, is_shared(e)}] == 0;
  }
  return result;
}

std::vector<int> barrier_phases(const std::vector<Event>& trace) {
  std::vector<int> phase(trace.size(), -1);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    if (e.operation == Operation::kArrive) {
      int open = 0;
      for (std::size_t j = 0; j < i; ++j)
        if (trace[j].operation == Operation::kArrive && trace[j].object == e.object)
          open = std::max(open, phase[j]);
      bool closed = false;
      for (std::size_t j = 0; j < i; ++j)
        if (phase[j] == open && trace[j].object == e.object &&
            (trace[j].operation == Operation::kLeave || trace[j].thread == e.thread))
          closed = true;
      phase[i] = closed ? open + 1 : open;
    }
    if (e.operation == Operation::kLeave) {
      std::vector<int> arrivals;  // the phases of this thread's, in order
      std::size_t leaves = 0;
      for (std::size_t j = 0; j < i; ++j) {
        if (trace[j].thread != e.thread || trace[j].object != e.object) continue;
        if (trace[j].operation == Operation::kArrive) arrivals.push_back(phase[j]);
        if (trace[j].operation == Operation::kLeave) ++leaves;
      }
      phase[i] = arrivals.at(leaves);
    }
  }
  return phase;
}

namespace {

// Which block is in which, and which operation in which. A transaction is named by the begin of its outermost
// block, or by its only operation.
class Nesting {
 public:
  explicit Nesting(const std::vector<Event>& trace)
      : trace_(trace), innermost_(trace.size()), parent_(trace.size()), transaction_(trace.size()) {
    std::map<ThreadId, std::vector<std::size_t>> open;  // each thread's own blocks
    std::map<ThreadId, Block> home;                     // the block that adopted the thread
    const auto current = [&](ThreadId thread) {
      return open[thread].empty() ? home[thread] : Block(open[thread].back());
    };
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const Event& e = trace[i];
      if (begins_block(i)) {
        parent_[i] = current(e.thread);
        open[e.thread].push_back(i);
      }
      innermost_[i] = current(e.thread);
      transaction_[i] = innermost_[i].value_or(i);
      while (parent_[transaction_[i]]) transaction_[i] = *parent_[transaction_[i]];
      if (e.operation == Operation::kEnd) open[e.thread].pop_back();
      if (e.operation == Operation::kFork) {
        Block around = current(e.thread);
        while (around && !adopts(*around)) around = parent_[*around];
        home[e.object] = around;
      }
    }
  }

  Block innermost(std::size_t operation) const { return innermost_[operation]; }
  Block parent(std::size_t block) const { return parent_[block]; }

  std::size_t transaction(std::size_t operation) const { return transaction_[operation]; }

 private:
  bool begins_block(std::size_t i) const {
    return trace_[i].operation == Operation::kBeginAtomic ||
           trace_[i].operation == Operation::kBeginDeterministic;
  }
  bool adopts(std::size_t block) const {
    for (Block around = block; around; around = parent_[*around])
      if (trace_[*around].operation == Operation::kBeginAtomic) return false;
    return true;
  }

  const std::vector<Event>& trace_;
  std::vector<Block> innermost_;          // by event: the innermost block that contains it
  std::vector<Block> parent_;             // by begin event: the block around it
  std::vector<std::size_t> transaction_;  // by event
};

// The conflicts between two operations i < j of a trace.
class Pairs {
 public:
  explicit Pairs(const std::vector<Event>& trace)
      : trace_(trace), operation_(operations(trace)), phase_(barrier_phases(trace)) {}

  // A step of deterministic order.
  bool synchronized(std::size_t i, std::size_t j) const {
    if (!operation_[i] || !operation_[j]) return false;
    const Event& a = trace_[i];
    const Event& b = trace_[j];
    if (a.thread == b.thread) return true;
    if (a.operation == Operation::kFork && a.object == b.thread) return true;
    if (b.operation == Operation::kJoin && b.object == a.thread) return true;
    if (a.object != b.object) return false;
    // A thread begins and ends even if it does nothing in between.
    if (a.operation == Operation::kFork && b.operation == Operation::kJoin) return true;
    if (a.operation == Operation::kArrive && b.operation == Operation::kLeave) return phase_[i] == phase_[j];
    return a.operation == Operation::kPost && b.operation == Operation::kWait;
  }

  bool same_variable(std::size_t i, std::size_t j) const {
    const Event& a = trace_[i];
    const Event& b = trace_[j];
    if (!is_read(a) && !is_write(a)) return false;
    if (!is_read(b) && !is_write(b)) return false;
    if (a.object != b.object || (!is_write(a) && !is_write(b))) return false;
    for (std::size_t k = i + 1; k < j; ++k)
      if (begins_life(trace_[k]) && trace_[k].object == a.object) return false;
    return true;
  }

  bool same_lock(std::size_t i, std::size_t j) const {
    if (!operation_[i] || !operation_[j]) return false;
    const Event& a = trace_[i];
    const Event& b = trace_[j];
    return (is_acquire(a) || is_release(a)) && (is_acquire(b) || is_release(b)) && a.object == b.object &&
           !(is_shared(a) && is_shared(b));
  }

  // A step of conflict order.
  bool ordered(std::size_t i, std::size_t j) const {
    return synchronized(i, j) || same_variable(i, j) || same_lock(i, j);
  }

  // Not allowed inside a transaction unless deterministic order puts i before j.
  bool conflict(std::size_t i, std::size_t j) const {
    const Event& a = trace_[i];
    const Event& b = trace_[j];
    return same_variable(i, j) || (same_lock(i, j) && is_acquire(b)) ||
           (a.operation == Operation::kWait && b.operation == Operation::kWait && a.object == b.object);
  }

 private:
  const std::vector<Event>& trace_;
  std::vector<bool> operation_;
  std::vector<int> phase_;  // of arrives and leaves
};

// Every way leads forward in the trace, so it is enough to join a way that ends at k with one that begins
// there, k ascending.
Matrix transitive_closure(Matrix ordered) {
  const std::size_t n = ordered.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < k; ++i)
      if (ordered[i][k])
        for (std::size_t j = k + 1; j < n; ++j)
          if (ordered[k][j]) ordered[i][j] = true;
  return ordered;
}

// Takes away node after node that no edge leads to; a cycle stays.
bool has_cycle(const Matrix& edge) {
  const std::size_t n = edge.size();
  std::vector<bool> gone(n, false);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t node = 0; node < n; ++node) {
      if (gone[node]) continue;
      bool reached = false;
      for (std::size_t from = 0; from < n; ++from)
        if (!gone[from] && edge[from][node]) reached = true;
      if (!reached) gone[node] = progress = true;
    }
  }
  return std::find(gone.begin(), gone.end(), false) != gone.end();
}

}  // namespace

std::vector<std::size_t> transactions(const std::vector<Event>& trace) {
  const Nesting nesting(trace);
  std::vector<std::size_t> result(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) result[i] = nesting.transaction(i);
  return result;
}

std::optional<EventIndex> first_cycle(const std::vector<Event>& trace) {
  const std::size_t n = trace.size();
  const Nesting nesting(trace);
  const Pairs pairs(trace);
  Matrix edge(n, std::vector<bool>(n, false));  // between transactions
  for (std::size_t last = 0; last < n; ++last) {
    for (std::size_t i = 0; i < last; ++i)
      if (nesting.transaction(i) != nesting.transaction(last) && pairs.ordered(i, last))
        edge[nesting.transaction(i)][nesting.transaction(last)] = true;
    if (has_cycle(edge)) return last;
  }
  return std::nullopt;
}

std::set<EventIndex> refuted_blocks(const std::vector<Event>& trace, EventIndex at) {
  const std::size_t n = trace.size();
  const Nesting nesting(trace);
  const Pairs pairs(trace);
  Matrix ordered(n, std::vector<bool>(n, false));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) ordered[i][j] = pairs.ordered(i, j);
  ordered = transitive_closure(ordered);
  std::set<EventIndex> result;
  for (Block block = nesting.innermost(at); block; block = nesting.parent(*block))
    for (std::size_t between = 0; between < n; ++between)
      if (nesting.transaction(between) != nesting.transaction(at) && ordered[*block][between] &&
          ordered[between][at])
        result.insert(*block);
  return result;
}

std::vector<std::pair<EventIndex, EventIndex>> conflicts(const std::vector<Event>& trace) {
  const std::size_t n = trace.size();
  const Nesting nesting(trace);
  const Pairs pairs(trace);
  Matrix ordered(n, std::vector<bool>(n, false));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) ordered[i][j] = pairs.synchronized(i, j);
  ordered = transitive_closure(ordered);
  std::vector<std::pair<EventIndex, EventIndex>> result;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      if (trace[i].thread != trace[j].thread && nesting.transaction(i) == nesting.transaction(j) &&
          pairs.conflict(i, j) && !ordered[i][j])
        result.emplace_back(i, j);
  return result;
}

std::optional<EventIndex> first_determinism_violation(const std::vector<Event>& trace) {
  std::optional<EventIndex> first = first_cycle(trace);
  for (const auto& [earlier, later] : conflicts(trace))
    if (!first || later < *first) first = later;
  return first;
}

}  // namespace heddle::oracle
