#include "store_buffer_oracle.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include "serializability_oracle.h"

namespace heddle::oracle {

namespace {

constexpr std::size_t kMostEvents = 64;

bool is_lock(const Event& e) {
  return e.operation == Operation::kAcquire || e.operation == Operation::kRelease ||
         e.operation == Operation::kAcquireShared || e.operation == Operation::kReleaseShared;
}
bool is_shared(const Event& e) {
  return e.operation == Operation::kAcquireShared || e.operation == Operation::kReleaseShared;
}
bool reads_variable(const Event& e) {
  return e.operation == Operation::kRead || e.operation == Operation::kAtomicRead ||
         e.operation == Operation::kAtomicCompareFail;
}
// At once, not through the buffer.
bool writes_memory(const Event& e) {
  return e.operation == Operation::kAtomicUpdate ||
         (e.operation == Operation::kAtomicWrite && e.order == MemoryOrder::kSeqCst);
}
// A read that does not drain; of no variable if it is a leave.
bool is_plain_read(const Event& e) {
  return e.operation == Operation::kRead || e.operation == Operation::kAtomicRead ||
         e.operation == Operation::kLeave;
}

// What the definition says of a trace, whatever the execution.
class Definition {
 public:
  Definition(const std::vector<Event>& trace, Order order)
      : trace_(trace), order_(order), transaction_(transactions(trace)), phase_(barrier_phases(trace)) {
    if (trace.size() > kMostEvents) throw std::invalid_argument("the trace is too long for the oracle");
    std::map<uint32_t, std::size_t> life;
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const Event& e = trace[i];
      if (e.operation == Operation::kAlloc || e.operation == Operation::kFree) ++life[e.object];
      life_.push_back(life[e.object]);
    }
    const std::vector<bool> operation = operations(trace);
    for (std::size_t i = 0; i < trace.size(); ++i) matters_.push_back(operation[i] && takes_part(trace[i]));
    for (std::size_t i = 0; i < trace.size(); ++i) own_write_.push_back(find_own_write(i));
  }

  const std::vector<Event>& trace() const { return trace_; }
  const Event& event(const Item& item) const { return trace_[item.event]; }
  bool matters(std::size_t i) const { return matters_[i]; }
  std::size_t node(const Item& item) const {
    return order_ == Order::kTso ? transaction_[item.event] : item.event;
  }

  // Places i < j of an execution of which at least the items up to j are known.
  bool conflict(const Execution& execution, std::size_t i, std::size_t j) const {
    const Item& a = execution[i];
    const Item& b = execution[j];
    return event(a).thread == event(b).thread ? conflict_in_thread(a, b)
                                              : conflict_between_threads(execution, i, j);
  }

 private:
  bool same_variable(std::size_t i, std::size_t j) const {
    return info(trace_[i].operation).space == Space::kVariable &&
           info(trace_[j].operation).space == Space::kVariable && trace_[i].object == trace_[j].object &&
           life_[i] == life_[j];
  }

  // The last buffered write of the same variable before i in its thread.
  std::optional<std::size_t> find_own_write(std::size_t i) const {
    for (std::size_t j = i; j-- > 0;)
      if (trace_[j].thread == trace_[i].thread && is_buffered_write(trace_[j]) && same_variable(i, j))
        return j;
    return std::nullopt;
  }
  // S2 §4.1: a read after a write of the same variable with no fence in between.
  bool is_buffered_read(std::size_t i) const {
    if (!own_write_[i]) return false;
    for (std::size_t j = *own_write_[i]; j < i; ++j)
      if (matters_[j] && trace_[j].thread == trace_[i].thread && drains(trace_[j])) return false;
    return true;
  }

  bool conflict_in_thread(const Item& a, const Item& b) const {
    if (a.is_commit && b.is_commit) return true;
    if (a.is_commit || b.is_commit) {  // (ii)
      const Item& other = a.is_commit ? b : a;
      return a.event == b.event || drains(event(other));
    }
    if (order_ == Order::kTsoAndPo || drains(event(a)) || drains(event(b))) return true;
    if (is_plain_read(event(b)) && !same_variable(a.event, b.event))  // (iii)
      return !is_buffered_write(event(a)) && !is_buffered_read(a.event);
    return true;
  }

  bool conflict_between_threads(const Execution& execution, std::size_t i, std::size_t j) const {
    const Item& a = execution[i];
    const Item& b = execution[j];
    const Event& first = event(a);
    const Event& second = event(b);
    if (first.operation == Operation::kFork && first.object == second.thread) return true;
    if (second.operation == Operation::kJoin && second.object == first.thread) return true;
    if (first.operation == Operation::kFork && second.operation == Operation::kJoin)
      return first.object == second.object;
    if (first.operation == Operation::kArrive && second.operation == Operation::kLeave)
      return first.object == second.object && phase_[a.event] == phase_[b.event];
    if (first.operation == Operation::kPost && second.operation == Operation::kWait)
      return first.object == second.object;
    if (is_lock(first) && is_lock(second))
      return first.object == second.object && !(is_shared(first) && is_shared(second));
    const auto writes = [&](const Item& item) { return item.is_commit || writes_memory(event(item)); };
    const auto reads = [&](const Item& item) { return !item.is_commit && reads_variable(event(item)); };
    if (!(writes(a) && (writes(b) || reads(b))) && !(reads(a) && writes(b))) return false;
    if (!same_variable(a.event, b.event)) return false;
    if (reads(a)) return !are_parallel(execution, i, j, j);
    if (reads(b)) return !are_parallel(execution, j, i, j);
    return true;
  }

  // (i): both the read and the other thread's commit lie between the read's own write and its commit. The
  // execution is known up to `now`.
  bool are_parallel(const Execution& execution, std::size_t read, std::size_t commit, std::size_t now) const {
    const std::optional<std::size_t> own = own_write_[execution[read].event];
    if (!own) return false;
    std::optional<std::size_t> issued;
    std::optional<std::size_t> committed;
    for (std::size_t k = 0; k < now; ++k)
      if (execution[k].event == *own) (execution[k].is_commit ? committed : issued) = k;
    return issued && *issued < commit && !committed;
  }

  const std::vector<Event>& trace_;
  Order order_;
  std::vector<std::size_t> transaction_;
  std::vector<int> phase_;                             // of arrives and leaves
  std::vector<std::size_t> life_;                      // of the variable, by event
  std::vector<bool> matters_;                          // by event
  std::vector<std::optional<std::size_t>> own_write_;  // by event
};

// The conflict graph of an execution while it grows: an edge for every way there is.
class Graph {
 public:
  // Keeps the relation transitive. True if it has a cycle now.
  bool add(std::size_t from, std::size_t to) {
    if (from == to || (after_[from] >> to & 1) != 0) return false;
    if ((after_[to] >> from & 1) != 0) return true;
    const uint64_t reached = after_[to] | uint64_t{1} << to;
    for (std::size_t a = 0; a < kMostEvents; ++a)
      if (a == from || (after_[a] >> from & 1) != 0) after_[a] |= reached;
    return false;
  }

 private:
  std::array<uint64_t, kMostEvents> after_{};  // by node, a bit for each that comes after it
};

// True if the last item closes a cycle.
bool add_last(const Definition& definition, const Execution& execution, Graph& graph) {
  const std::size_t last = execution.size() - 1;
  for (std::size_t i = 0; i < last; ++i)
    if (definition.conflict(execution, i, last) &&
        graph.add(definition.node(execution[i]), definition.node(execution[last])))
      return true;
  return false;
}

class Enumeration {
 public:
  explicit Enumeration(const Definition& definition) : definition_(definition) {}

  std::optional<Execution> find_violation() {
    if (extend(0, Graph())) return execution_;
    return std::nullopt;
  }

 private:
  using Buffers = std::map<ThreadId, std::vector<std::size_t>>;

  // All executions that begin like this one and go on with event `next` after some commits.
  bool extend(std::size_t next, const Graph& graph) {
    const std::vector<Event>& trace = definition_.trace();
    while (next < trace.size() && !definition_.matters(next)) ++next;
    for (const auto& [thread, buffer] : Buffers(buffers_)) {
      if (buffer.empty()) continue;
      buffers_[thread].erase(buffers_[thread].begin());
      if (put({buffer.front(), true}, next, graph)) return true;
      buffers_[thread] = buffer;
    }
    if (next == trace.size()) return false;
    const Event& event = trace[next];
    if (drains(event) && !buffers_[event.thread].empty()) return false;
    if (event.operation == Operation::kJoin && !buffers_[event.object].empty()) return false;
    if (is_buffered_write(event)) buffers_[event.thread].push_back(next);
    if (put({next, false}, next + 1, graph)) return true;
    if (is_buffered_write(event)) buffers_[event.thread].pop_back();
    return false;
  }

  bool put(const Item& item, std::size_t next, const Graph& graph) {
    Graph now = graph;
    execution_.push_back(item);
    if (add_last(definition_, execution_, now) || extend(next, now)) return true;
    execution_.pop_back();
    return false;
  }

  const Definition& definition_;
  Execution execution_;
  Buffers buffers_;
};

}  // namespace

bool takes_part(const Event& event) {
  const Operation o = event.operation;
  return is_buffered_write(event) || drains(event) || is_plain_read(event) || o == Operation::kThreadBegin;
}

bool is_buffered_write(const Event& event) {
  return event.operation == Operation::kWrite ||
         (event.operation == Operation::kAtomicWrite && event.order != MemoryOrder::kSeqCst);
}

bool drains(const Event& event) {
  const Operation o = event.operation;
  if (o == Operation::kFence || o == Operation::kAtomicWrite) return event.order == MemoryOrder::kSeqCst;
  return o == Operation::kAtomicUpdate || o == Operation::kAtomicCompareFail || is_lock(event) ||
         o == Operation::kFork || o == Operation::kJoin || o == Operation::kThreadBegin ||
         o == Operation::kThreadEnd || o == Operation::kArrive || o == Operation::kPost ||
         o == Operation::kWait;
}

Execution execution_of(const std::vector<Event>& trace) {
  Execution execution;
  std::map<ThreadId, std::vector<std::size_t>> buffers;
  const std::vector<bool> operation = operations(trace);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    std::vector<std::size_t>& buffer = buffers[trace[i].thread];
    if (trace[i].operation == Operation::kCommit) {
      execution.push_back({buffer.front(), true});
      buffer.erase(buffer.begin());
    } else if (operation[i] && takes_part(trace[i])) {
      execution.push_back({i, false});
      if (is_buffered_write(trace[i])) buffer.push_back(i);
    }
  }
  return execution;
}

bool has_cycle(const std::vector<Event>& trace, const Execution& execution, Order order) {
  const Definition definition(trace, order);
  Graph graph;
  Execution prefix;
  for (const Item& item : execution) {
    prefix.push_back(item);
    if (add_last(definition, prefix, graph)) return true;
  }
  return false;
}

std::optional<Execution> find_violation(const std::vector<Event>& trace, Order order) {
  const Definition definition(trace, order);
  return Enumeration(definition).find_violation();
}

std::vector<std::pair<std::size_t, std::size_t>> conflicts_of(const std::vector<Event>& trace,
                                                              const Execution& execution, Order order) {
  const Definition definition(trace, order);
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (std::size_t j = 0; j < execution.size(); ++j)
    for (std::size_t i = 0; i < j; ++i)
      if (definition.conflict(execution, i, j)) result.emplace_back(i, j);
  return result;
}

}  // namespace heddle::oracle
