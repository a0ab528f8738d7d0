// What S2 proves of its conflict relation, tried on random executions: the definition that tso and robustness
// are held to is the paper's.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "random_execution.h"
#include "serializability_oracle.h"
#include "store_buffer_oracle.h"
#include "support/choices.h"
#include "support/read_events.h"

namespace heddle::test {
namespace {

using oracle::Execution;
using oracle::Item;
using oracle::Order;

std::vector<Event> any_execution(std::size_t most_choices) {
  constexpr int kSize = 40;
  TraceShape shape = kPaperShape;
  shape.variables = 2;
  std::vector<Choice> choices = *rc::gen::resize(kSize, any_choices());
  if (choices.size() > most_choices) choices.resize(most_choices);
  const std::string trace =
      with_commits(random_trace(choices, shape), *rc::gen::resize(kSize, any_choices()));
  RC_LOG() << trace;
  return read_events(trace);
}

// Which write each read of an execution gets its value from, none: the initial one. Nothing if this is no
// execution: a commit out of order, or a fence with writes in the buffer.
using Sources = std::map<std::size_t, std::optional<std::size_t>>;
std::optional<Sources> sources_of(const std::vector<Event>& trace, const Execution& execution) {
  Sources sources;
  std::map<ThreadId, std::vector<std::size_t>> buffers;
  std::map<uint32_t, std::size_t> memory;
  for (const Item& item : execution) {
    const Event& event = trace[item.event];
    std::vector<std::size_t>& buffer = buffers[event.thread];
    if (item.is_commit) {
      if (buffer.empty() || buffer.front() != item.event) return std::nullopt;
      buffer.erase(buffer.begin());
      memory[event.object] = item.event;
    } else if (event.operation == Operation::kFence) {
      if (!buffer.empty()) return std::nullopt;
    } else if (event.operation == Operation::kWrite) {
      buffer.push_back(item.event);
    } else {
      std::optional<std::size_t>& source = sources[item.event];
      if (memory.contains(event.object)) source = memory[event.object];
      for (const std::size_t write : buffer)
        if (trace[write].object == event.object) source = write;
    }
  }
  return sources;
}

// Calls `visit` with every order of the items that keeps all conflicts, until it returns false.
class Permutations {
 public:
  Permutations(const std::vector<Event>& trace, const Execution& execution)
      : execution_(execution), before_(execution.size()) {
    for (const auto& [i, j] : oracle::conflicts_of(trace, execution, Order::kTso)) before_[j].push_back(i);
  }

  template <class Visit>
  bool each(Visit visit) {
    if (order_.size() == execution_.size()) {
      Execution permuted;
      for (const std::size_t i : order_) permuted.push_back(execution_[i]);
      return visit(permuted);
    }
    for (std::size_t i = 0; i < execution_.size(); ++i) {
      const auto is_done = [&](std::size_t other) { return done_.contains(other); };
      if (is_done(i) || !std::all_of(before_[i].begin(), before_[i].end(), is_done)) continue;
      done_.insert(i);
      order_.push_back(i);
      if (!each(visit)) return false;
      order_.pop_back();
      done_.erase(i);
    }
    return true;
  }

 private:
  const Execution& execution_;
  std::vector<std::vector<std::size_t>> before_;  // by place: the places in conflict before it
  std::vector<std::size_t> order_;
  std::set<std::size_t> done_;
};

constexpr std::size_t kMostItems = 9;  // have few enough permutations

// Prop. 1: swapping what is in no conflict leads from executions to executions, and no read gets another
// value.
RC_GTEST_PROP(StoreBufferTheorems, PermutationsAreExecutions, ()) {
  const std::vector<Event> trace = any_execution(8);
  const Execution execution = oracle::execution_of(trace);
  RC_PRE(execution.size() <= kMostItems);
  const std::optional<Sources> sources = sources_of(trace, execution);
  RC_ASSERT(sources.has_value());
  Permutations(trace, execution).each([&](const Execution& permuted) {
    RC_ASSERT(sources_of(trace, permuted) == sources);
    return true;
  });
}

// Thm 1: some permutation that keeps the conflicts is serial iff the conflict graph has no cycle.
RC_GTEST_PROP(StoreBufferTheorems, AcyclicIffASerialPermutationExists, ()) {
  const std::vector<Event> trace = any_execution(10);
  const Execution execution = oracle::execution_of(trace);
  RC_PRE(execution.size() <= kMostItems);
  const std::vector<std::size_t> transaction = oracle::transactions(trace);
  bool found = false;
  Permutations(trace, execution).each([&](const Execution& permuted) {
    std::set<std::size_t> closed;
    for (std::size_t i = 0; i < permuted.size(); ++i) {
      const std::size_t now = transaction[permuted[i].event];
      if (i > 0 && now == transaction[permuted[i - 1].event]) continue;
      if (!closed.insert(now).second) return true;
    }
    found = true;
    return false;
  });
  RC_TAG(found ? "serializable" : "not serializable");
  RC_ASSERT(found == !oracle::has_cycle(trace, execution, Order::kTso));
}

// The event graph of a trace as S2 §5 defines it.
class TraceConflicts {
 public:
  explicit TraceConflicts(const std::vector<Event>& trace) : trace_(trace) {}

  bool is_event(std::size_t i) const {
    return trace_[i].operation == Operation::kRead || trace_[i].operation == Operation::kWrite ||
           trace_[i].operation == Operation::kFence;
  }
  bool directed(std::size_t i, std::size_t j) const {
    const Event& a = trace_[i];
    const Event& b = trace_[j];
    if (a.thread != b.thread) return conflict(i, j) && (has_fence(i, j) || (is_read(i) && !is_buffered(i)));
    if (is_read(j) && a.operation == Operation::kWrite && a.object != b.object) return false;
    return !(is_read(i) && is_read(j) && a.object != b.object && is_buffered(i));
  }
  bool undirected(std::size_t i, std::size_t j) const {
    return trace_[i].thread != trace_[j].thread && conflict(i, j) && !directed(i, j);
  }
  bool is_buffered(std::size_t i) const {
    if (!is_read(i)) return false;
    for (std::size_t j = i; j-- > 0;) {
      if (trace_[j].thread != trace_[i].thread) continue;
      if (trace_[j].operation == Operation::kFence) return false;
      if (trace_[j].operation == Operation::kWrite && trace_[j].object == trace_[i].object) return true;
    }
    return false;
  }

 private:
  bool is_read(std::size_t i) const { return trace_[i].operation == Operation::kRead; }
  bool conflict(std::size_t i, std::size_t j) const {
    return trace_[i].operation != Operation::kFence && trace_[j].operation != Operation::kFence &&
           trace_[i].object == trace_[j].object && !(is_read(i) && is_read(j));
  }
  bool has_fence(std::size_t i, std::size_t j) const {
    for (std::size_t k = i; k < j; ++k)
      if (trace_[k].operation == Operation::kFence && trace_[k].thread == trace_[i].thread) return true;
    return false;
  }

  const std::vector<Event>& trace_;
};

// The first half of Thm 4: an execution's event graph, each write one with its commit, has no cycle and gives
// the trace's event graph directions. One correction: a read and a commit that are parallel (S2 (1)(i)) have
// none.
RC_GTEST_PROP(StoreBufferTheorems, ExecutionsGiveTheTraceDirections, ()) {
  const std::vector<Event> trace = any_execution(14);
  const Execution execution = oracle::execution_of(trace);
  std::set<std::size_t> committed;
  for (const Item& item : execution)
    if (item.is_commit) committed.insert(item.event);
  std::set<std::pair<std::size_t, std::size_t>> edges;
  for (const auto& [i, j] : oracle::conflicts_of(trace, execution, Order::kTso))
    if (execution[i].event != execution[j].event) edges.emplace(execution[i].event, execution[j].event);
  // Nodes without edges into them are taken away; a cycle stays.
  std::set<std::size_t> left;
  for (const Item& item : execution) left.insert(item.event);
  for (bool progress = true; progress;) {
    progress = false;
    for (const std::size_t node : std::set(left))
      if (std::none_of(left.begin(), left.end(),
                       [&](std::size_t from) { return edges.contains({from, node}); })) {
        left.erase(node);
        progress = true;
      }
  }
  RC_ASSERT(left.empty());
  const TraceConflicts conflicts(trace);
  const auto is_there = [&](std::size_t i) {
    return conflicts.is_event(i) && (trace[i].operation != Operation::kWrite || committed.contains(i));
  };
  for (std::size_t j = 0; j < trace.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      if (!is_there(i) || !is_there(j)) continue;
      const bool forward = edges.contains({i, j});
      const bool backward = edges.contains({j, i});
      if (conflicts.directed(i, j)) {
        // A read that may have been served by its own buffer conflicts with no commit parallel to it.
        RC_ASSERT(!backward);
        if (!conflicts.is_buffered(j) || trace[i].thread == trace[j].thread) RC_ASSERT(forward);
      } else if (conflicts.undirected(i, j)) {
        RC_ASSERT(!(forward && backward));
        if (!conflicts.is_buffered(i) && !conflicts.is_buffered(j)) RC_ASSERT(forward || backward);
      } else {
        RC_ASSERT(!forward && !backward);
      }
    }
}

}  // namespace
}  // namespace heddle::test
