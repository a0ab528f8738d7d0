// A trace as ndseq sees it: the events of S3 §5 with their tasks, guards and data flow inside tasks (D1).
//
// Everything that is kept per event is a Node of 28 bytes and the nodes its value comes from. An atomic
// update is two nodes, a read and the write that follows from it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "trace/event.h"

namespace heddle::sequential_spec {

using NodeId = uint32_t;  // in the order of the trace
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

using TaskId = uint32_t;               // in order of begin
inline constexpr TaskId kProgram = 0;  // what is outside all tasks: the root of the tree
inline constexpr TaskId kNoTask = std::numeric_limits<TaskId>::max();

using MaybeId = uint32_t;  // an if (true*) that was entered
inline constexpr MaybeId kNoMaybe = std::numeric_limits<MaybeId>::max();

enum class Kind : uint8_t {
  kRead,    // l = g
  kWrite,   // g = l
  kCount,   // g = g + c: in any order with others of its kind, the same; no event of S3
  kAssign,  // l = l op l
  kBranch,  // branch(l)
  kMaybe,   // branch(true*)
  kMeet,    // arrives at a barrier or leaves it; no event of S3
  kUndone,  // it turned out to be no access
};

// Where an event stands. Shared by all events of a thread between two changes of it.
struct Context {
  TaskId task = kProgram;
  MaybeId guard = kNoMaybe;  // the innermost if (true*) around it; kNoMaybe: none
  ThreadId thread = 0;
};

struct Node {
  uint32_t event = 0;    // its index in the trace
  uint32_t object = 0;   // accesses: the location; an if (true*): its id; else as in the event
  uint32_t context = 0;  // in History::contexts
  SiteId site = kNoId;
  uint32_t local = kNoId;  // as in the event
  Operation operation = Operation::kRead;
  MemoryOrder order = MemoryOrder::kPlain;
  Kind kind = Kind::kRead;
  bool decides = false;    // a branch, or a read of which the trace does not tell where its value goes
  NodeId sources_end = 0;  // one past its last in History::sources
};
static_assert(sizeof(Node) == 28);

// A task, or the part of a task between two barriers where tasks meet: S3 §6.2 ends one parallel construct
// there and begins the next. A meeting itself is a task without events, so that it has a place in their
// order.
struct Task {
  TaskId parent = kNoTask;
  uint32_t depth = 0;
  uint32_t name = kNoId;  // in Space::kTask; of a meeting, in Space::kBarrier
  uint32_t part = 0;      // of its task, from 0
  bool is_meeting = false;
};

// `from`, which holds `earlier`, comes before `to`, which holds `later`, in every serial order. Where one of
// the tasks is a meeting, both operations are the other's arrival or departure.
struct Before {
  TaskId from = kNoTask;
  TaskId to = kNoTask;
  NodeId earlier = kNoNode;
  NodeId later = kNoNode;
};

// An event that orders threads.
struct Synchronization {
  NodeId before = 0;  // the node that comes next
  Event event;
};

struct History {
  std::vector<Node> nodes;
  std::vector<Synchronization> synchronization;
  std::vector<NodeId> sources;  // D1: of each node, those whose values it uses
  std::vector<Context> contexts;
  std::vector<Task> tasks;                          // the program first
  std::vector<NodeId> maybes;                       // by MaybeId: the branch(true*)
  std::vector<Before> meetings;                     // what barriers order
  std::vector<uint32_t> variables;                  // by location: a variable's lives are different locations
  std::vector<bool> is_focus;                       // by location; may be shorter
  std::vector<NodeId> beside;                       // of threads whose task had tasks that ran meanwhile
  std::vector<std::pair<NodeId, uint32_t>> values;  // of accesses that tell: ids in Space::kValue, by node

  // What the answer should say besides.
  bool has_data_flow = false;  // some local was set or used
  uint64_t assumed = 0;        // accesses that code that tells nothing may have made
  uint64_t hand_overs = 0;     // semaphore operations inside tasks, which the language of S3 does not have

  const Context& context(NodeId node) const { return contexts[nodes[node].context]; }
  TaskId task(NodeId node) const { return context(node).task; }
  std::span<const NodeId> sources_of(NodeId node) const {
    const NodeId begin = node == 0 ? 0 : nodes[node - 1].sources_end;
    return std::span(sources).subspan(begin, nodes[node].sources_end - begin);
  }
  bool has_focus(uint32_t location) const { return location < is_focus.size() && is_focus[location]; }
  std::size_t locations() const { return variables.size(); }

  // An access that is none after all.
  void undo(NodeId node) {
    nodes[node].kind = Kind::kUndone;
    nodes[node].decides = false;
  }

  // The event behind a node.
  Event event(NodeId node) const;
};

}  // namespace heddle::sequential_spec
