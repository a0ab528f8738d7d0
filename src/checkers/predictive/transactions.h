// What the predictive checkers remember of a run: its transactions, each different one once.
//
// A transaction is an outermost atomic block, or one access outside of all atomic blocks (a unary
// transaction, which takes part as somebody's rival). Its *shape* is what it does: accesses, locking,
// synchronization. Equal shapes are stored once, however often they ran, so that memory and work grow with
// the different ones. A *group* is all transactions of one shape, one thread and one stretch of the forced
// order (checkers/forced_order.h): for other threads they are interchangeable.
//
// Two things make shapes few:
//   - Locks that the thread holds around a transaction are a part of it: taken at its start, given back at
//   its
//     end (`around` steps). Delaying an acquire and advancing a release loses no schedule.
//   - Between two steps that are not accesses, only the first and last read and the first and last write of a
//     variable count: whatever can fall between two of its accesses can fall between those.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "checkers/predictive/thread_log.h"
#include "core/lockset.h"
#include "core/vector_clock.h"
#include "trace/event.h"

namespace heddle::predictive {

using ShapeId = uint32_t;
using VariableId = uint32_t;  // one life of a variable: alloc and free begin a new one

enum class StepKind : uint8_t {
  kRead,
  kWrite,
  kUpdate,  // a read and a write at once
  kAcquire,
  kAcquireShared,
  kRelease,
  kReleaseShared,
  kSignal,   // fork, arrive, post: others may go on
  kReceive,  // join, leave, wait: others have gone on
};
constexpr bool is_access(StepKind kind) { return kind <= StepKind::kUpdate; }
constexpr bool reads(StepKind kind) { return kind == StepKind::kRead || kind == StepKind::kUpdate; }
constexpr bool writes(StepKind kind) { return kind == StepKind::kWrite || kind == StepKind::kUpdate; }
constexpr bool is_acquire(StepKind kind) {
  return kind == StepKind::kAcquire || kind == StepKind::kAcquireShared;
}
constexpr bool is_release(StepKind kind) {
  return kind == StepKind::kRelease || kind == StepKind::kReleaseShared;
}

struct ShapeStep {
  StepKind kind = StepKind::kRead;
  bool around = false;             // a lock taken before the transaction, or given back after it
  bool initializes = false;        // before every access of other threads, by program order, fork and join
  bool idle = false;               // of a variable whose accesses can only come in one order that matters
  uint32_t object = kNoId;         // a VariableId, a lock, or what is signalled
  uint32_t inner = 0;              // the innermost block it is in: from 1 in Shape::inner; 0: the transaction
  LocksetId held = kEmptyLockset;  // before the step
  Time moment = 0;                 // while the trace is read: when an access that may initialize took place

  friend bool operator==(const ShapeStep&, const ShapeStep&) = default;
};

// The event behind a step, of the first transaction that had the shape.
struct Origin {
  Event event;
  EventIndex index = 0;
};

// An atomic block inside of a transaction: a part of it (S1 §1), with a name of its own.
struct InnerBlock {
  uint32_t name = kNoId;
  SiteId site = kNoId;
  uint32_t around = 0;  // the block it is in: from 1; 0: the transaction
};

struct Shape {
  std::vector<ShapeStep> steps;
  std::vector<Origin> origins;      // of the steps
  Origin begin;                     // of a block: its begin
  bool is_block = false;            // else unary
  bool touches_shared = false;      // accesses a variable that several threads access
  std::vector<InnerBlock> inner{};  // those with steps in them, and those around these
};

// Where a step of one transaction stood.
struct StepPlace {
  EventIndex index = 0;
  SiteId site = kNoId;
};

// A lock held, and which acquisition it was: two transactions between which it was not given back have the
// same.
struct Holding {
  uint32_t lock = kNoId;
  EventIndex since = 0;
  std::optional<StepPlace> given_back{};  // none: never

  bool is_same(const Holding& other) const { return lock == other.lock && since == other.since; }
};

// One transaction that ran.
struct Instance {
  EventIndex first = 0;  // of a block: its begin
  EventIndex last = 0;
  SiteId site = kNoId;            // of the first
  SiteId end_site = kNoId;        // of a block's end
  std::vector<StepPlace> places;  // of a block's steps; a unary transaction has just its access
  std::vector<Holding> before;    // locks held when it began; known after find_holdings() (thread_log.h)
  std::vector<Holding> after;     // and when it ended
};

struct Group {
  explicit Group(const ThreadClock& start) : clock(start) {}

  ShapeId shape = 0;
  ThreadId thread = 0;
  uint64_t stretch = 0;       // of the forced order
  ThreadClock clock;          // of the forced order
  bool past_is_open = false;  // another thread is inside a critical section where this clock ends for it
  uint64_t count = 0;         // transactions
  Instance earliest;
  Instance latest;  // of a group of one: the same
  // A transaction that signals or receives has a group of its own, with the forced order at each of its
  // steps.
  std::vector<ThreadClock> clocks;

  bool synchronizes() const { return !clocks.empty(); }
  const ThreadClock& clock_at(std::size_t step) const { return clocks.empty() ? clock : clocks[step]; }
  const ThreadClock& clock_at_start() const { return clocks.empty() ? clock : clocks.front(); }
  const ThreadClock& clock_at_end() const { return clocks.empty() ? clock : clocks.back(); }
};

// Whether some step of `before`, a group of another thread, comes before some step of `after` in every
// schedule. With transactions that do not synchronize inside it is all of them before all of those.
inline bool forces(const Group& before, const Group& after) {
  return after.clock_at_end().knows(before.clock_at_start().epoch());
}

// The event behind a step of a group's earliest or latest transaction. Of a lock that was never given back it
// is a release without a place, at the transaction's end.
Origin origin_of(const Shape& shape, const Group& group, bool latest, std::size_t step);
// Whether a lock that such a transaction ended with was never given back.
bool stays_held(const Instance& instance, uint32_t lock);
// The begin of such a block.
Origin begin_of(const Shape& shape, const Group& group, bool latest);

// Shapes, each once.
class ShapeTable {
 public:
  ShapeId intern(Shape shape);
  std::vector<Shape>& list() { return shapes_; }

 private:
  std::vector<Shape> shapes_;
  tsl::robin_map<uint64_t, std::vector<ShapeId>, MixHash> by_hash_;
};

// Groups, each once.
class GroupTable {
 public:
  // The group of this shape, thread and stretch, if there is one; none of those that synchronize.
  Group* find(ShapeId shape, ThreadId thread, uint64_t stretch);
  // Adds what is in `part`, of the same shape, thread and stretch as an earlier one or new.
  void add(Group part);
  std::vector<Group>& list() { return groups_; }

 private:
  struct Key {
    uint64_t shape_and_thread;
    uint64_t stretch;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return mix(key.shape_and_thread ^ mix(key.stretch)); }
  };

  std::vector<Group> groups_;
  tsl::robin_map<Key, uint32_t, Hash> numbers_;
};

// A whole run.
struct Transactions {
  std::vector<Shape> shapes;         // by ShapeId
  std::vector<Group> groups;         // in order of their first transactions
  std::vector<bool> lock_is_shared;  // by lock: several threads take it
  std::vector<ThreadLog> logs;       // by thread
  uint64_t blocks = 0;               // atomic blocks that ran
  uint64_t unended = 0;              // of them: not ended when the trace was
  uint64_t held_at_end = 0;          // locks not given back when the trace ended
  uint64_t deterministic = 0;        // deterministic blocks that ran outside of atomic ones
  uint64_t not_counted = 0;          // acquisitions by threads that held kMostHeld locks
};

// The same run without idle accesses, and without transactions that neither access what several threads
// access nor synchronize inside: what can make a difference to the order of transactions.
Transactions that_matter(Transactions run);

}  // namespace heddle::predictive
