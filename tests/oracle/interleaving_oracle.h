// Atomicity of a run's transactions in every schedule, the slow way: all schedules of every subset of the
// transactions, each compared with all serial orders (ALGORITHMS §4).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "trace/event.h"

namespace heddle::oracle {

// The transactions that take part: blocks and accesses outside of blocks.
struct Transaction {
  ThreadId thread = 0;
  bool is_block = false;
  std::vector<std::size_t> events;  // indices into the trace, begin and end left out
  bool touches_shared = false;      // accesses a variable that several threads access
  bool synchronizes = false;        // forks, joins, … inside
};

class Interleavings {
 public:
  explicit Interleavings(const std::vector<Event>& trace);

  const std::vector<Transaction>& transactions() const { return transactions_; }

  // Calls visit(events in order) for each schedule of exactly these transactions, as long as it returns true.
  void for_each_schedule(const std::vector<std::size_t>& members,
                         const std::function<bool(const std::vector<std::size_t>&)>& visit) const;

  // Whether every schedule of exactly these transactions (indices) is view equivalent to a serial one. None
  // when there are more than `most` schedules.
  std::optional<bool> is_serializable(const std::vector<std::size_t>& members, uint64_t most = 200'000) const;

  // Whether every subset is. None when a small one has too many schedules before another is found that is
  // not.
  std::optional<bool> is_atomic(uint64_t most = 200'000) const;

  // Whether this order of events (indices into the trace) keeps the forced order among the transactions it is
  // made of, and no serial order of these gives the same view of the accesses in it. Locks are not looked at.
  bool is_violation(const std::vector<std::size_t>& order) const;

  // Whether the run can come to this: some order of beginnings of its threads, all that they did included,
  // keeps the forced order and the locks and has these events in this order.
  bool is_reachable(const std::vector<std::size_t>& order) const;

  // Whether some step of the one comes before some step of the other in every schedule.
  bool forces(std::size_t before, std::size_t after) const;

 private:
  struct Act;
  std::vector<Act> acts_of(const std::vector<std::size_t>& members, std::size_t place) const;

  std::vector<Event> trace_;
  std::vector<std::vector<bool>> before_;  // by event and event: in every schedule
  std::vector<uint32_t> variable_;         // by event: number of the variable's life it accesses
  std::vector<Transaction> transactions_;
  // By event: locks held by its thread before it, and the events that took them.
  std::vector<std::vector<std::size_t>> held_;
};

}  // namespace heddle::oracle
