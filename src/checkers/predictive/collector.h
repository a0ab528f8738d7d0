// Turns the events of a trace into Transactions, in one pass.
//
// Initialization (S1 §4, in its sound form): an access to x is part of the initialization of x when it comes
// before every access to x of other threads by program order, fork and join. Only the thread that accesses x
// first can initialize it, so a variable needs its first thread and how much of that thread everybody else
// knew; which accesses initialize is known when the trace has ended.
// Cost per event: a hash lookup for an access outside of blocks; an append inside.
#pragma once

#include <tsl/robin_map.h>

#include <limits>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "checkers/forced_order.h"
#include "checkers/predictive/transactions.h"
#include "core/checker.h"

namespace heddle::predictive {

class Collector {
 public:
  // Transactions::logs are kept where they are needed.
  explicit Collector(bool keeps_logs)
      : held_(locksets_), forced_(held_), fork_join_(held_), keeps_logs_(keeps_logs) {}

  void process(const EventBatch& batch);
  // The trace has ended. What is still open counts as ended here: the program stopped there.
  Transactions finish();

  const LocksetTable& locksets() const { return locksets_; }

 private:
  struct Variable {
    ThreadId first = kNoId;                         // who accessed it first
    Time known = std::numeric_limits<Time>::max();  // of that thread, to every access of another one
    Time last_write = 0;                            // by the first thread
    bool is_shared = false;                         // others access it, too
    bool others_write = false;
  };
  // A lock the thread holds, and the event that took it.
  struct Taken {
    Event event;
    EventIndex index = 0;
  };
  struct Open {
    Shape shape;
    Instance instance;
    uint64_t stretch = 0;
    bool past_is_open = false;
    uint32_t inner = 0;  // the innermost block open in it: from 1 in Shape::inner; 0: none
    std::optional<ThreadClock> start;
    std::vector<ThreadClock> clocks;  // by step, once the forced order has moved on
    std::size_t thinned = 0;          // steps left by the latest thinning
  };
  struct Thread {
    std::vector<bool> blocks;   // open ones, outermost first: whether atomic
    std::size_t outermost = 0;  // where the transaction's block stands in `blocks`, from 1; 0: none
    std::vector<Taken> taken;   // locks held, in the order taken; no more than kMostHeld
    uint64_t depth = 0;         // locks held, all of them
    Open open;
  };

  void process(const Event& event, EventIndex index);
  void access(StepKind kind, const Event& event, EventIndex index);
  void acquire(const Event& event, EventIndex index, bool shared);
  void release(const Event& event, EventIndex index, bool shared);
  void synchronize(StepKind kind, const Event& event, EventIndex index);
  void begin(const Event& event, EventIndex index);
  void end(const Event& event, EventIndex index);
  void close(ThreadId id, EventIndex index);

  void add_step(ThreadId id, const ShapeStep& step, const Event& event, EventIndex index);
  void unary(ThreadId id, const ShapeStep& step, const Event& event, EventIndex index);
  void note(ThreadId id, VariableId variable, bool writes, ShapeStep& step);
  void add_around(const Thread& thread, Shape& shape, bool at_start);
  void log(const Event& event, EventIndex index);
  static void thin(Open& open);
  static void drop_empty_inner_blocks(Open& open);
  void add_to_group(ShapeId shape, const ThreadClock& start, uint64_t stretch, bool past_is_open,
                    Instance instance, std::vector<ThreadClock> clocks);
  bool is_idle(const Variable& variable) const;
  void resolve(Shape& shape) const;

  Thread& thread(ThreadId id) {
    if (id >= threads_.size()) threads_.resize(id + std::size_t{1});
    return threads_[id];
  }
  VariableId life_of(uint32_t variable);
  void begin_life(uint32_t variable);

  LocksetTable locksets_;
  HeldLocks held_;
  ForcedOrder forced_;     // what every schedule keeps
  ForcedOrder fork_join_;  // fed with forks and joins only: what initialization goes by
  bool keeps_logs_;
  std::vector<Thread> threads_;
  std::vector<VariableId> lives_;  // by variable: its present life; kNoId: none yet
  std::vector<Variable> variables_;
  std::vector<ThreadId> lock_user_;  // by lock: who has taken it; kNoId: nobody
  Transactions run_;
  ShapeTable shapes_;
  GroupTable groups_;
  // An access outside of blocks, with what is held there.
  struct UnaryKey {
    uint64_t variable_and_held;
    uint64_t moment_and_kind;

    friend bool operator==(const UnaryKey&, const UnaryKey&) = default;
  };
  struct UnaryHash {
    std::size_t operator()(const UnaryKey& key) const {
      return mix(key.variable_and_held ^ mix(key.moment_and_kind));
    }
  };
  tsl::robin_map<UnaryKey, ShapeId, UnaryHash> unary_;  // → shape
};

}  // namespace heddle::predictive
